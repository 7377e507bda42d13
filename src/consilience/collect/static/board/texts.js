// Texts with words in braces, as consilience.collect.settings.texts has them.

/** A text with its words in braces filled in. */
export function fill(text, values = {}) {
  return text.replace(/\{\{|\}\}|\{(\w+)\}/g, (all, name) => (name ? String(values[name] ?? "") : all[0]));
}
