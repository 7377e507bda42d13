"""The documentation is complete, its code runs, and its links are valid."""

import ast
import doctest
import importlib
import importlib.util
import json
import os
import pkgutil
import pydoc
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path

import click
import pytest
import yaml

import consilience
from consilience import registry
from consilience.annotations.files import crowd_exports, exports, json_exports, piles
from consilience.cli import main
from consilience.datasets import list_datasets, load_cardsort_animals
from consilience.errors import MissingDataError

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
GENERATED = {"_build", "gallery", "generated", "sg_execution_times.rst"}
PAGES = sorted(
    path
    for folder, pattern in [(ROOT, "*.md"), (DOCS, "**/*.rst"), (DOCS, "**/*.md")]
    for path in folder.glob(pattern)
    if not GENERATED & set(path.relative_to(ROOT).parts)
)
TABLES = sorted(Path(consilience.__file__).parent.glob("datasets/tutorial_tables/*.csv"))
SOURCES = sorted(
    [*PAGES, *TABLES, *DOCS.glob("examples/*.py"), *DOCS.glob("tutorial/*.*"), *DOCS.glob("developer/skeletons/*.py")]
)
CARD_SORTS = DOCS / "card-sort-tutorial.rst"
WITH_EXAMPLES = [page for page in PAGES if ">>> " in page.read_text(encoding="utf-8") and page.suffix == ".rst"]
# together, since JAX is imported and a program of the same shape compiled once
DEEP_PAGES = [page for page in WITH_EXAMPLES if "from consilience.deep import" in page.read_text(encoding="utf-8")]
LONG = [
    "how-to-choose.rst",
    "planning.rst",
    "comparing.rst",
    "subsets-tutorial.rst",
    "sites.rst",
    "models/active.rst",
    "models/next_label.rst",
    "models/subset_fusion.rst",
    "models/scdc.rst",
    "models/deep_mcvc.rst",
]
"""Pages whose examples take many seconds; what they call has quick tests of its own, and they run in those of all."""
LONG_PAGES = [DOCS / name for name in LONG]
# of the longest, the command line's own tests run the like
WITH_LONG_COMMANDS = [
    DOCS / name for name in ("tutorial.rst", "card-sort-tutorial.rst", "subsets-tutorial.rst", "coming-from.rst")
]
WITH_COMMANDS = [
    pytest.param(page, marks=pytest.mark.slow) if page in WITH_LONG_COMMANDS else page
    for page in [*sorted(DOCS.glob("*tutorial.rst")), DOCS / "coming-from.rst"]
]


def name_of(path):
    return path.relative_to(ROOT).as_posix()


def text_of(path):
    return path.read_text(encoding="utf-8")


def public_modules():
    """Return modules with an `__all__`, except the command line, which has its own reference."""
    found = [consilience]
    for info in pkgutil.walk_packages(consilience.__path__, "consilience."):
        module = importlib.import_module(info.name)
        if hasattr(module, "__all__") and not info.name.startswith("consilience.cli"):
            found.append(module)
    return found


def documented():
    """Return (module, name) of every entry of the reference."""
    entries, module, listing = [], None, False
    for line in text_of(DOCS / "api.rst").splitlines():
        if match := re.match(r"\.\. currentmodule:: (\S+)", line):
            module = match[1]
        elif match := re.match(r"\.\. data:: (\w+)", line):
            entries.append((module, match[1]))
        elif line.startswith(".. autosummary::"):
            listing = True
        elif listing and (match := re.match(r"   (\w+)$", line)):
            entries.append((module, match[1]))
        elif line and not line.startswith(" "):
            listing = False
    return entries


def commands(command=main, path=()):
    """Yield every command of the program with its words, including groups."""
    yield path, command
    for name, below in getattr(command, "commands", {}).items():
        yield from commands(below, (*path, name))


# ---- completeness


def test_every_public_name_is_in_the_reference():
    known = [getattr(importlib.import_module(module), name) for module, name in documented()]
    for module in public_modules():
        for name in module.__all__:
            held = getattr(module, name)
            assert any(held is other for other in known), f"{module.__name__}.{name} is not in docs/api.rst"


def test_the_reference_lists_each_name_once_in_its_public_module():
    entries = documented()
    assert len(entries) == len(set(entries)) > 40  # else the parsing above is wrong
    for module, name in entries:
        assert name in importlib.import_module(module).__all__, f"{module}.{name}"


@pytest.mark.parametrize("entry", registry.ESTIMATORS.values(), ids=lambda entry: entry.name)
def test_every_estimator_is_in_how_to_choose_and_has_a_page(entry):
    assert f"~{entry.module}.{entry.name}`" in text_of(DOCS / "how-to-choose.rst")
    titles = [text_of(page).splitlines()[0] for page in DOCS.glob("models/*.rst")]
    assert entry.name in titles


@pytest.mark.parametrize("page", sorted(DOCS.glob("models/*.rst")), ids=name_of)
def test_each_model_page_says_when_not_to_use_it_and_where_its_source_is(page):
    if page.stem in {"index", "active"}:
        return
    text = text_of(page)
    assert re.search(r"^(Do not use|.*do not use|\* Not if)", text, re.MULTILINE)
    _, _, end = text.partition("See also\n--------\n")
    files = re.findall(r":source:`([^`]+)`", end)
    assert files
    assert all((Path(consilience.__file__).parent / file).is_file() for file in files)
    assert "* The paper: " in end or page.stem == "majority_vote"


def test_how_to_choose_is_the_second_page():
    pages = re.findall(r"^   ([\w/-]+)$", text_of(DOCS / "start.rst").split(".. toctree::")[1], re.MULTILINE)
    assert pages[0] == "how-to-choose"


def test_the_command_reference_is_generated_and_all_options_have_help():
    directive = text_of(DOCS / "command-line.rst").split(".. click::")[1]
    assert directive.splitlines()[:3] == [" consilience.cli:main", "   :prog: consilience", "   :nested: full"]
    found = dict(commands())
    assert {("fit",), ("predict",), ("report",)} <= set(found)
    for words, command in found.items():
        assert command.help, words
        for option in command.params:
            if isinstance(option, click.Option):
                assert option.help, (words, option.opts)


def test_every_data_set_is_listed():
    page = text_of(DOCS / "datasets.rst")
    for name in list_datasets()["name"]:
        assert f"``{name}``" in page, name


def test_every_recognised_table_is_shown():
    shown = [set(block.splitlines()[0].split(",")) for block in captioned(DOCS / "annotations.rst").values()]
    groupings, labels = ("item", "annotator", "grouping", "group"), ("item", "annotator", "label")
    for required in [groupings, labels, ("task", "worker", "label"), ("item_a", "item_b", "annotator", "same")]:
        assert any(set(required) <= columns for columns in shown), required


def test_every_recognised_tool_is_in_the_table_of_formats():
    page = text_of(DOCS / "formats_table.inc")
    tools = [
        name
        for module in (crowd_exports, exports, json_exports, piles)
        for name in re.findall(
            r'(?:Export\(|tool = |tool, frame = )f?"([^"{]+)"', Path(module.__file__).read_text("utf-8")
        )
    ]
    assert len(tools) > 12
    for tool in tools:
        assert tool.replace("_", r"\_") in page, tool


def test_versions_agree():
    assert f"version: {consilience.__version__}\n" in text_of(ROOT / "CITATION.cff")
    assert consilience.__version__ in text_of(ROOT / "CHANGELOG.md")


def test_the_papers_are_cited_alike_everywhere():
    references = yaml.safe_load(text_of(ROOT / "CITATION.cff"))["references"]
    assert len(references) == 5
    for path in (DOCS / "cite.rst", ROOT / "paper" / "paper.bib"):
        entries = re.findall(r"@\w+\{(\w+),\n((?:.*\n)+?) *\}", text_of(path))
        found = {
            key: dict(re.findall(r"(\w+) += \{(.*)\},", fields)) for key, fields in entries if key != "consilience"
        }
        papers, others = list(found.values())[:5], list(found.values())[5:]
        assert [one["title"] for one in papers] == [one["title"] for one in references]
        assert all("doi" in one or "url" in one for one in others)
        for one, reference in zip(papers, references, strict=True):
            names = [f"{name['family-names']}, {name['given-names']}" for name in reference["authors"]]
            assert one["author"] == " and ".join(names)
            assert one.get("year") == (str(reference["year"]) if "year" in reference else None)
    assert set(re.findall(r"@(\w+)", text_of(ROOT / "paper" / "paper.md"))) == set(found)


def test_the_paper_has_the_sections_and_the_length_that_joss_asks_for():
    paper = text_of(ROOT / "paper" / "paper.md")
    sections = ["Summary", "Statement of need", "State of the field", "Software design", "Research impact statement"]
    assert re.findall(r"^# (.+)$", paper, re.MULTILINE) == [*sections, "References"]
    assert 750 <= len(paper.split("---")[2].split()) <= 1750


def test_figures_of_the_paper_are_those_of_the_pages():
    paper, page = text_of(ROOT / "paper" / "paper.md"), text_of(DOCS / "people" / "labels.rst")
    figures = re.findall(r"(?<![\d\w])\.\d+", paper)
    assert len(figures) == 3
    assert all(figure in page for figure in figures)
    assert "over twenty" in paper
    assert len(registry.ESTIMATORS) > 20


def test_the_conda_recipe_needs_what_the_package_needs():
    recipe = text_of(ROOT / "conda" / "meta.yaml").partition("  run:\n")[2].partition("\n\n")[0]
    listed = {line.strip(" -").replace(" ", "") for line in recipe.splitlines()}
    with (ROOT / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)["project"]
    needed = {f"python{project['requires-python']}", *project["dependencies"]}
    assert {name.replace("matplotlib-base", "matplotlib") for name in listed} == needed
    assert f'set version = "{consilience.__version__}"' in text_of(ROOT / "conda" / "meta.yaml")


# ---- code


def captioned(page):
    """Return the files shown on a page: content by name."""
    blocks = re.findall(
        r"^\.\. code-block:: \w+\n   :caption: (\S+)\n\n((?:   .*\n|\n)+)", text_of(page) + "\n", re.MULTILINE
    )
    return {name: textwrap.dedent(block).strip() + "\n" for name, block in blocks}


def console(page):
    """Return (command, expected output) of the console blocks of a page, for our program."""
    blocks = re.findall(
        r"^(?:```console\n((?:.*\n)*?)```|\.\. code-block:: console\n\n((?:   .*\n|\n)+))", text_of(page), re.M
    )
    for block in blocks:
        for part in re.split(r"^\$ ", textwrap.dedent("".join(block)), flags=re.MULTILINE)[1:]:
            command, _, output = part.replace("\\\n", " ").partition("\n")
            if command.startswith("consilience "):
                yield shlex.split(command, comments=True)[1:], output.strip()


@pytest.fixture
def folder(tmp_path):
    """A folder with the tables mentioned on the pages."""
    for table in TABLES:
        shutil.copy(table, tmp_path)
    for page in [*WITH_EXAMPLES, CARD_SORTS]:
        for name, content in captioned(page).items():
            assert not (tmp_path / name).exists(), f"{name} is shown twice"
            (tmp_path / name).write_text(content, encoding="utf-8")
    return tmp_path


def python(*arguments, folder):
    """Run Python in a folder, as a reader would: without the suite's type checks, and with warnings as errors."""
    source = str(Path(consilience.__file__).parent.parent)
    environment = os.environ | {"PYTHONPATH": source, "MPLBACKEND": "agg", "OMP_NUM_THREADS": "1"}
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # of the skeletons, which need none
    few = "ignore::consilience.errors.CalibrationWarning"  # most examples have few annotators
    command = [sys.executable, "-W", "error", "-W", few, *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def pytest_generate_tests(metafunc):
    """Run the examples of pages in some processes, those of one model's page alone; a third is quick."""
    if "pages" in metafunc.fixturenames:
        if metafunc.config.getoption("--model") is not None:
            cases = [pytest.param([page], id=name_of(page)) for page in WITH_EXAMPLES]
        else:
            short = [page for page in WITH_EXAMPLES if page not in LONG_PAGES]
            further = [page for place, page in enumerate(short) if place % 3]
            parts = (("short", short[::3]), ("further short", further), ("long", LONG_PAGES))
            cases = [
                pytest.param(
                    [page for page in pages if (page in DEEP_PAGES) == is_deep],
                    id=f"{name}{kind}",
                    marks=() if (name, is_deep) == ("short", False) else pytest.mark.slow,
                )
                for name, pages in parts
                for is_deep, kind in ((True, ", deep"), (False, ""))
            ]
        metafunc.parametrize("pages", cases)


def test_the_examples_give_the_output_shown(pages, folder):
    flags = ["-o", "ELLIPSIS", "-o", "NORMALIZE_WHITESPACE"]
    done = python("-m", "doctest", *flags, *map(str, pages), folder=folder)
    assert done.returncode == 0, done.stdout + done.stderr


RUN_COMMANDS = """
import contextlib, io, json, sys
from consilience.cli import main

outputs = []
for arguments in json.loads(sys.argv[1]):
    with contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO(), "utf-8")) as output:
        try:
            main(arguments)
        except SystemExit as end:
            if end.code:
                raise
    output.flush()
    outputs.append(output.buffer.getvalue().decode())
json.dump(outputs, sys.stdout)
"""
"""Runs commands of the program in one process, which imports it once, and prints the outputs as JSON."""


@pytest.mark.parametrize("page", WITH_COMMANDS, ids=name_of)
def test_the_commands_of_a_page_give_the_output_shown(page, folder):
    shown = list(console(page))
    assert len(shown) >= 2
    require_data_of(page)
    done = python("-c", RUN_COMMANDS, json.dumps([arguments for arguments, _ in shown]), folder=folder)
    assert done.returncode == 0, done.stderr
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    for (_, expected), output in zip(shown, json.loads(done.stdout), strict=True):
        assert doctest.OutputChecker().check_output(expected + "\n", output, flags), output
    stated = set(re.findall(r"^``(\w[\w.-]*)``", text_of(page), re.MULTILINE))
    if stated:
        assert {path.name for path in (folder / "study").iterdir()} == stated


def require_data_of(page):
    """Skip the test if a page needs real data that are not on this machine."""
    if page == CARD_SORTS:
        try:
            load_cardsort_animals()
        except MissingDataError as error:
            pytest.skip(str(error))


@pytest.mark.slow  # the commands of the page fit and report the same
def test_the_python_of_the_card_sort_tutorial_runs(folder):
    require_data_of(CARD_SORTS)
    (block,) = re.findall(r"^.. code-block:: python\n\n((?:   .*\n|\n)+)", text_of(CARD_SORTS), re.MULTILINE)
    done = python("-c", textwrap.dedent(block), folder=folder)
    assert done.returncode == 0, done.stderr
    assert "Mythical creatures" in done.stdout
    assert "1 participant was left out of the fit" in (folder / "report.html").read_text(encoding="utf-8")


@pytest.mark.slow  # `make dist` runs it with the wheel alone
def test_the_python_of_the_readme_gives_the_output_shown(tmp_path):
    blocks = re.compile(r"^```(?:python|text)\n(.*?)^```", re.MULTILINE | re.DOTALL)
    block, output = blocks.findall(text_of(ROOT / "README.md"))
    done = python("-c", block, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == output


@pytest.mark.parametrize("page", ["README.md", "docs/index.rst"])
def test_make_dist_runs_every_block_of_the_front_pages(page):
    spec = importlib.util.spec_from_file_location("check_dist", ROOT / "tools" / "check_dist.py")
    check_dist = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(check_dist)
    text = text_of(ROOT / page)
    shown = check_dist.examples(text)
    assert len([expected for _, expected in shown if expected]) == 1
    commands = [arguments for arguments, _ in shown if arguments[0] == "-m"]
    assert len(commands) == len(re.findall(r"^ *\$ consilience ", text, re.MULTILINE)) >= 4
    assert len(shown) == len(commands) + len(re.findall("```python|:: python", text))


SHUFFLED = [ROOT / "README.md", *WITH_EXAMPLES, *sorted(DOCS.glob("examples/*.py"))]
QUICKLY_SHUFFLED = [page for page in SHUFFLED if page.stem in {"README", "tutorial", "how-to-choose"}]


def run_shuffled(pages, folder):
    done = python("-W", "ignore", str(ROOT / "tests" / "shuffled.py"), *map(str, pages), folder=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return sum(int(count) for count in re.findall(r"(\d+) the same", done.stdout))


@pytest.mark.slow
def test_the_output_of_main_pages_does_not_depend_on_the_order_of_rows(folder):
    assert run_shuffled(QUICKLY_SHUFFLED, folder) >= 8


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in SHUFFLED if page not in QUICKLY_SHUFFLED], ids=name_of)
def test_the_output_of_every_page_does_not_depend_on_the_order_of_rows(page, folder):
    run_shuffled([page], folder)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_commands_on_a_page_can_be_parsed(page):
    for arguments, _ in console(page):
        command, words = main, list(arguments)
        while isinstance(command, click.Group):
            command = command.commands[words.pop(0)]
        command.make_context(command.name, words)  # raises on an unknown option or a missing argument


def test_the_tables_of_the_tutorial_match_its_script(tmp_path):
    path = DOCS / "tutorial" / "make_wines.py"
    spec = importlib.util.spec_from_file_location("make_wines", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.main(tmp_path)
    made = {table.name: text_of(table) for table in tmp_path.glob("*.csv")}
    assert made == {table.name: text_of(table) for table in TABLES}


def test_the_skeletons_run(tmp_path):
    for skeleton in DOCS.glob("developer/skeletons/*.py"):
        shutil.copy(skeleton, tmp_path)
    done = python("-m", "pytest", "-q", "-p", "no:cacheprovider", "--doctest-modules", ".", folder=tmp_path)
    assert done.returncode == 0, done.stdout
    assert re.search(r"^\d\d passed", done.stdout, re.MULTILINE), done.stdout


@pytest.mark.parametrize("page", sorted(DOCS.glob("developer/*.md")), ids=name_of)
def test_files_named_for_developers_exist(page):
    """A path starts at the root, at the package, or at the folder of a path before it in the paragraph or row."""
    places = [ROOT, Path(consilience.__file__).parent]
    n_found, beside = 0, []
    for line in text_of(page).splitlines():
        if not line or line.startswith("|"):
            beside = []
        for named in re.findall(r"`([\w/]+\.(?:py|rst|md)|[\w/]+/)`", line):
            found = [place / named for place in [*places, *beside] if (place / named).exists()]
            assert found, f"{named} in {line!r}"
            beside.append(found[0] if named.endswith("/") else found[0].parent)
            n_found += 1
    assert n_found > 3  # else the search has gone wrong


@pytest.mark.parametrize("page", sorted(DOCS.glob("developer/*.md")), ids=name_of)
def test_names_named_for_developers_exist(page):
    """Private members of a class, and what is in a module."""
    source = "\n".join(map(text_of, Path(consilience.__file__).parent.rglob("*.py")))
    members = set(re.findall(r"`(?:self\.)?(_[a-z]\w+)", text_of(page)))
    assert {name for name in members if not re.search(rf"\b{name}\b", source)} == set()
    for name in re.findall(r"`(consilience\.[\w.]*\w)[(`]", text_of(page)):
        assert pydoc.locate(name) is not None, name


@pytest.mark.parametrize("example", sorted(DOCS.glob("examples/*.py")), ids=name_of)
def test_gallery_examples_have_a_title_and_are_run_by_the_build(example):
    """The build of the documentation runs them, and stops at an error."""
    title, line, *_ = ast.get_docstring(ast.parse(text_of(example))).splitlines()
    assert len(title) == len(line)
    assert example.name.startswith("plot_")


# ---- links

LINKS = re.compile(r"(?<!\w)\[[^\]]*\]\(([^)\s#]+)[^)]*\)")
DIRECTIVES = re.compile(r"\.\. (?:image|figure|literalinclude|include):: (\S+)")
DOWNLOADS = re.compile(r":download:`[^<`]*<([^>]+)>`")
DOCUMENTS = re.compile(r":doc:`(?:[^<`]*<)?([^>`]+)>?`")
OBJECTS = re.compile(r":(?:class|func|meth|mod|attr):`~?([\w.]+)`")


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_to_files_exist(page):
    text = text_of(page)
    found = DIRECTIVES.findall(text) + DOWNLOADS.findall(text)
    if page.suffix == ".md":
        found += [link for link in LINKS.findall(text) if "://" not in link]
    for link in found:
        assert (page.parent / link).exists(), link
    for document in DOCUMENTS.findall(text):
        target = page.parent / document
        if document.startswith("gallery/"):
            script = DOCS / "examples" / f"{target.name}.py"
            assert target.name == "index" or script.exists(), document
        else:
            assert any(target.with_suffix(suffix).exists() for suffix in (".rst", ".md")), document


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_names_of_the_package_exist(page):
    for name in OBJECTS.findall(text_of(page)):
        if name.startswith("consilience"):
            holder, *parts = consilience, *name.split(".")[1:]
            for part in parts:
                submodule = f"{holder.__name__}.{part}" if hasattr(holder, "__path__") else None
                if submodule and not hasattr(holder, part):
                    importlib.import_module(submodule)
                holder = getattr(holder, part)


@pytest.mark.parametrize("page", SOURCES, ids=name_of)
def test_no_page_contains_a_local_path(page):
    folders = r"(?<![\w./])/(?:home|root|tmp|work|opt|usr|mnt|var|Users)/|[A-Z]:\\"
    found = re.search(folders, text_of(page))
    assert not found, found
