import assert from "node:assert/strict";
import { test } from "node:test";
import { codeBlocksOf } from "./code-block.ts";

test("a block is found with its language, its line, its name and what happens meanwhile", () => {
  const page = [
    "# Page",
    "",
    "<!-- needs: jq -->",
    '<!-- meanwhile: a person approves with {"amount": 45} -->',
    "```sh",
    "# gate.sh",
    "true",
    "```",
  ];
  assert.deepEqual(codeBlocksOf("page.md", page.join("\n")), [
    {
      page: "page.md",
      line: 5,
      language: "sh",
      text: "# gate.sh\ntrue\n",
      fileName: "gate.sh",
      meanwhile: { kind: "approve", edit: '{"amount": 45}' },
      needs: ["jq"],
      notRun: null,
    },
  ]);
});

test("what a page says above a block is understood or refused, never ignored", () => {
  for (const comment of ["meanwhile: a person shrugs", "not run", "skip: later", "needs:"]) {
    const page = `<!-- ${comment} -->\n\`\`\`sh\ntrue\n\`\`\``;
    assert.throws(() => codeBlocksOf("page.md", page), /page\.md:2/, comment);
  }
  assert.throws(() => codeBlocksOf("page.md", "```sh\ntrue\n"), /has no end/);
});

test("a comment about a block must stand right above it", () => {
  const page = "<!-- not run: a reason -->\n\n```sh\ntrue\n```";
  assert.throws(() => codeBlocksOf("page.md", page), /page\.md:1.*right above/);
});
