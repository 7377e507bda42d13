// Texts with words in braces, as consilience.collect.wording has them.

const EXACT = 100; // from twice this number on, the last two digits tell which text of several is used

/** A text with its words in braces filled in, numbers as the language of the page writes them. */
export function fill(text, values = {}) {
  return text.replace(/\{\{|\}\}|\{(\w+)\}/g, (all, name) => (name ? written(values[name] ?? "") : all[0]));
}

/** The one of several texts that is for a number. */
export function textFor(texts, forms, number) {
  return texts[forms[number < 2 * EXACT ? number : EXACT + (number % EXACT)]];
}

/** Names one after another. */
export function join(names, listed) {
  return names.reduce((first, second) => fill(listed, { first, second }));
}

function written(value) {
  return typeof value === "number" ? (written.format ??= formatOf(document.documentElement.lang)).format(value) : value;
}

function formatOf(language) {
  try {
    return new Intl.NumberFormat(language, { numberingSystem: "latn" });
  } catch {
    return new Intl.NumberFormat("en");
  }
}
