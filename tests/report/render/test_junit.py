"""JUnit XML."""

from xml.etree import ElementTree as Xml

import pytest

from breakfinder.report.render import render
from breakfinder.report.render.junit import render_junit
from breakfinder.report.render.problem import Problem, Problems
from report import samples

# The attributes of the elements in the schema that Jenkins' xUnit plugin publishes, as far as they are used here.
ATTRIBUTES = {
    "testsuites": {"name", "tests", "failures", "errors"},
    "testsuite": {"name", "tests", "failures", "errors", "skipped"},
    "testcase": {"name", "classname", "file", "line"},
    "failure": {"message", "type"},
    "error": {"message", "type"},
}
PARENTS = {"testsuite": "testsuites", "testcase": "testsuite", "failure": "testcase", "error": "testcase"}


def read(text):
    assert text.startswith('<?xml version="1.0" encoding="utf-8"?>\n')
    root = Xml.fromstring(text.encode("utf-8"))
    for parent in root.iter():
        assert set(parent.attrib) <= ATTRIBUTES[parent.tag]
        for child in parent:
            assert PARENTS[child.tag] == parent.tag
    return root


def count(root, tag):
    return len(list(root.iter(tag)))


@pytest.mark.parametrize("name", [*samples.ALL, *samples.COLLECTIONS])
def test_well_formed_and_the_numbers_add_up(name):
    root = read(render((samples.ALL | samples.COLLECTIONS)[name](), "junit"))
    for element in [root, *root]:
        assert int(element.get("tests")) == count(element, "testcase")
        assert int(element.get("failures")) == count(element, "failure")
        assert int(element.get("errors")) == count(element, "error")


def test_a_suite_for_each_file():
    root = read(render(samples.with_findings(), "junit"))
    assert [(suite.get("name"), len(suite)) for suite in root] == [
        ("src/gatednet/modeling_gatednet.py", 2),
        ("src/gatednet/routing.py", 1),
    ]
    case = root[1][0]
    assert case.attrib == {
        "name": "BF102 at line 7, column 23", "classname": "src/gatednet/routing.py",
        "file": "src/gatednet/routing.py", "line": "7",
    }  # fmt: skip
    assert case[0].get("type") == "BF102"
    assert "chosen.flatten().tolist()" in case[0].text
    assert "Keep the routing on the device" in case[0].text


def test_nothing_found_is_a_test_that_passed():
    (suite,) = read(render(samples.clean(), "junit"))
    assert [len(case) for case in suite] == [0]


def test_a_failure_is_an_error():
    root = read(render(samples.failed(), "junit"))
    (error,) = root.iter("error")
    assert error.get("message") == samples.failed().failure.message


def test_characters_that_xml_cannot_hold():
    harm = "a\x00\x1b[31m\ud800\ufffe\uffff\u202e]]><b>&\nb"
    problem = Problem("BF101", harm, "info", harm, 1, 1, 1, 2, "f", expression=harm, why=harm, qualname=harm)
    ((case,),) = read(render_junit(Problems(harm, "1", [problem])))
    assert case.get("file") == "a<U+0000><U+001B>[31m<U+D800>\ufffd\ufffd<U+202E>]]><b>&<U+000A>b"
    assert case[0].text.endswith("<b>&\nb")
