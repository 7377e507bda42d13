"""Instructions of a study: Markdown in, harmless HTML out."""

from __future__ import annotations

TAGS = {"p", "br", "hr", "em", "strong", "code", "pre", "blockquote", "ul", "ol", "li", "a", "s", "h2", "h3", "h4"}
TAGS |= {"table", "thead", "tbody", "tr", "th", "td"}
HEADINGS = {"h1": "h2", "h2": "h3", "h3": "h4", "h4": "h4", "h5": "h4", "h6": "h4"}  # the title of the page is the h1


def as_html(markdown: str) -> str:
    r"""Return Markdown as HTML that holds text, lists, tables and links to other pages, and nothing that runs or loads.

    HTML within is shown as it is written. What Markdown makes is cleaned once more by another library, with a list of
    what is allowed.

    Examples
    --------
    >>> as_html("# Hello\n\nSort **all** <script>cards</script>.")
    '<h2>Hello</h2>\n<p>Sort <strong>all</strong> &lt;script&gt;cards&lt;/script&gt;.</p>\n'
    """
    import nh3
    from markdown_it import MarkdownIt

    reader = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable("image")
    tokens = reader.parse(markdown)
    for token in tokens:
        token.tag = HEADINGS.get(token.tag, token.tag)
    html = reader.renderer.render(tokens, reader.options, {})
    return nh3.clean(
        html,
        tags=TAGS,
        attributes={"a": {"href"}},
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer",
    )
