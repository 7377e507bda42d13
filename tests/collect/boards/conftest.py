"""A browser and a server for the tests of the boards, started once."""

import pytest

from tests.pages import chromium


@pytest.fixture(scope="package")
def browser():
    with chromium() as found:
        yield found


@pytest.fixture(scope="package")
def serve():
    pytest.importorskip("uvicorn", reason="uvicorn is not installed")
    from tests.collect.boards.board_server import serving

    with serving() as serve:
        yield serve


@pytest.fixture
def visit(browser, serve):
    """Open the page of a sort; no script may fail, and nothing may be fetched from elsewhere or against the policy."""
    contexts, troubles, requested = [], [], set()

    def open_page(sort, width=1280, height=900, context=None, **options):
        address = serve(sort)
        if context is None:
            context = browser.new_context(viewport={"width": width, "height": height}, **options)
            contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("console", lambda message: _is_trouble(message) and troubles.append(message.text))
        page.on("request", lambda request: requested.add(request.url.partition("/sort")[0].split("/static")[0]))
        page.goto(address)
        if options.get("java_script_enabled", True) and sort.begun and not sort.handed_in:
            page.locator("#board").wait_for()
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert troubles == []
    assert all(url.startswith(("http://127.0.0.1", "data:")) for url in requested)


def _is_trouble(message):
    """Whether a message of the console is an error that a test did not cause by cutting the connection."""
    return message.type == "error" and not message.text.startswith("Failed to load resource")
