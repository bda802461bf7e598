// The API reference as HTML: every call, field, answer and event of the OpenAPI document, each with its samples.

import { escapeHtml } from "../../server/src/domain/mail/html-text.ts";
import { highlight } from "./highlight.ts";
import type { Heading, Section } from "./markdown.ts";
import {
  type Answered,
  exampleOf,
  nameOf,
  type Operation,
  operations,
  type Parameter,
  resolve,
  type Schema,
  schemaOf,
  tags,
  webhooks,
} from "./operations.ts";
import { type Sample, samplesOf, urlPlaceholder } from "./samples.ts";

export type RenderedReference = { html: string; headings: Heading[]; sections: Section[] };

/** Schemas that several calls share have a place of their own. */
const objects = [
  { name: "ApprovalRequest", id: "the-request", heading: "The request" },
  {
    name: "RedeemedRequest",
    id: "the-redeemed-request",
    heading: "The redeemed request",
    beyond: "ApprovalRequest",
  },
  { name: "Error", id: "the-error", heading: "The error" },
] as const satisfies SharedObject[];

/** `beyond` names the object whose fields it has as well. */
type SharedObject = { name: string; id: string; heading: string; beyond?: string };

/** The known codes of errors: each has a heading on their page. */
export function renderReference(errorCodes: ReadonlySet<string>): RenderedReference {
  const headings: Heading[] = [];
  const sections: Section[] = [];
  const add = (level: number, id: string, text: string, html: string, beside = "") => {
    headings.push({ level, id, text });
    sections.push({ id, heading: text, text: `${wordsIn(html)} ${beside}`.trim() });
    return `<div class="heading"><h${level} id="${id}">${escapeHtml(text)}</h${level}><a class="anchor" href="#${id}" aria-label="Link to “${escapeHtml(text)}”">#</a></div>\n${html}`;
  };
  const write = (text: string) => inline(text, errorCodes);
  const parts = tags.map(({ name, description }) => {
    const own = operations.filter((operation) => operation.tags.includes(name));
    const head = add(2, slugOf(name), name, `<p>${write(description)}</p>`);
    const calls = own.map((operation) => {
      const body = `<section class="call" aria-labelledby="${idOf(operation)}">`;
      const { about, beside } = callHtml(operation, write);
      const headed = add(
        3,
        idOf(operation),
        operation.summary,
        about,
        samplesOf(operation)
          .map(({ name }) => name)
          .join(" "),
      );
      return `${body}<div class="call-about">${headed}</div><div class="call-samples">${beside}</div></section>`;
    });
    return head + (own.length > 0 ? calls.join("\n") : eventsHtml(write));
  });
  const shared = objects.map((object: SharedObject) => {
    return add(3, object.id, object.heading, objectHtml(object, write));
  });
  const objectsHtml = add(2, "objects", "Objects", "<p>What several calls answer.</p>");
  const html = `${introHtml()}${parts.join("\n")}\n${objectsHtml}${shared.join("\n")}`;
  return { html, headings, sections };
}

type Write = (text: string) => string;

function objectHtml({ name, beyond }: SharedObject, write: Write): string {
  const schema = resolve({ $ref: `#/components/schemas/${name}` });
  if (beyond === undefined) return fieldsHtml(schema, write);
  const known = resolve({ $ref: `#/components/schemas/${beyond}` }).properties ?? {};
  const own = Object.entries(schema.properties ?? {}).filter(([field]) => !(field in known));
  const base = objects.find((each) => each.name === beyond);
  return `<p>Every field of <a href="#${base?.id}">${base?.heading.toLowerCase()}</a>, and:</p>${fieldsHtml({ ...schema, properties: Object.fromEntries(own) }, write)}`;
}

function introHtml(): string {
  const rows = operations.map(
    (operation) =>
      `<li><a href="#${idOf(operation)}"><code><b>${operation.method}</b> ${escapeHtml(operation.path)}</code></a> ${escapeHtml(operation.summary)}</li>`,
  );
  return `<p>The address of this service is <code>${urlPlaceholder}</code>. Every call about requests carries <code>Authorization: Bearer</code> with an API key. In words, with the order of checks and the limits: <a href="http-api">HTTP API</a>. For programs: <a href="../v1/openapi.json">the OpenAPI document</a>.</p>
<ul class="calls">
${rows.join("\n")}
</ul>
`;
}

function callHtml(operation: Operation, write: Write): { about: string; beside: string } {
  const { method, path, description, parameters = [], requestBody, responses } = operation;
  const body = schemaOf(requestBody?.content);
  const answered = Object.entries(responses).filter(([status]) => /^[23]/.test(status));
  const refused = Object.entries(responses).filter(([status]) => !/^[23]/.test(status));
  const statuses = refused.map(([status]) => status).join(", ");
  const about = [
    `<p class="call-line"><b class="method-${method.toLowerCase()}">${method}</b> <code>${escapeHtml(path)}</code></p>`,
    description === undefined ? "" : `<p>${write(description)}</p>`,
    parametersHtml(parameters, write),
    body === undefined
      ? ""
      : `<h4>Body</h4><p>${write(resolve(body).description ?? "")}</p>${fieldsHtml(resolve(body), write)}`,
    `<h4>Answers</h4>${answersHtml(answered, write)}`,
    `<details class="refusals"><summary>Errors: ${statuses}</summary>${answersHtml(refused, write)}</details>`,
  ];
  return { about: about.join("\n"), beside: besideHtml(operation) };
}

function besideHtml(operation: Operation): string {
  const { summary, responses } = operation;
  const samples = samplesOf(operation).map((sample) => codeHtml(sample, summary));
  const [status, good] = Object.entries(responses).find(([each]) => each.startsWith("2")) ?? [];
  const example = exampleOf(good?.content);
  if (example === undefined) return samples.join("");
  const answer = {
    language: "json",
    name: `Answer ${status}`,
    code: JSON.stringify(example, null, 2),
  } as const;
  return [...samples, codeHtml(answer, summary)].join("");
}

function eventsHtml(write: Write): string {
  const rows = webhooks.map(
    ({ path, summary }) => `<tr><td><code>${path}</code></td><td>${write(summary)}.</td></tr>`,
  );
  const [first] = webhooks;
  const body = schemaOf(first?.requestBody?.content);
  const example = webhooks.map((each) => exampleOf(each.requestBody?.content)).find(Boolean);
  const code = {
    language: "json",
    name: "request.approved",
    code: JSON.stringify(example, null, 2),
  };
  return `<section class="call" aria-label="Events"><div class="call-about">
<div class="table" tabindex="0" role="group" aria-label="Events"><table><thead><tr><th>event</th><th>when</th></tr></thead><tbody>${rows.join("")}</tbody></table></div>
${parametersHtml(first?.parameters ?? [], write, "h3")}
<h3>Body</h3>${body === undefined ? "" : fieldsHtml(resolve(body), write)}
<h3>Your answer</h3>${answersHtml(Object.entries(first?.responses ?? {}), write)}
<p>How to verify a signature, in TypeScript, Python and Go: <a href="webhooks#verify-before-you-believe">Webhooks</a>.</p>
</div><div class="call-samples">${codeHtml(code, "An event")}</div></section>`;
}

function parametersHtml(parameters: Parameter[], write: Write, level = "h4"): string {
  const places = [
    { place: "path", heading: "In the path" },
    { place: "query", heading: "In the query" },
    { place: "header", heading: "Headers" },
  ];
  return places
    .map(({ place, heading }) => {
      const own = parameters.filter((each) => each.in === place);
      if (own.length === 0) return "";
      const rows = own.map(({ name, required, schema, description }) =>
        fieldHtml({ name, isRequired: required, schema: { ...schema, description } }, write),
      );
      return `<${level}>${heading}</${level}><dl class="fields">${rows.join("")}</dl>`;
    })
    .join("");
}

/** A field that is an object itself shows its own fields below it. */
function fieldsHtml({ properties = {}, required = [] }: Schema, write: Write): string {
  const rows = Object.entries(properties).map(([name, schema]) =>
    fieldHtml({ name, isRequired: required.includes(name), schema }, write),
  );
  return `<dl class="fields">${rows.join("")}</dl>`;
}

type Field = { name: string; isRequired: boolean; schema: Schema };

function fieldHtml({ name, isRequired, schema }: Field, write: Write): string {
  const told = resolve(schema);
  const description = schema.description ?? told.description ?? "";
  const inner = innerFields(name, schema);
  const below =
    inner === null
      ? ""
      : `<details><summary>Fields of <code>${escapeHtml(name)}</code></summary>${fieldsHtml(inner, write)}</details>`;
  return `<div><dt><code>${escapeHtml(name)}</code> <span>${typeHtml(schema)}</span>${isRequired ? " <em>required</em>" : ""}</dt><dd>${description === "" ? "" : `<p>${write(description)}</p>`}${below}</dd></div>`;
}

/** The request in an event has the fields of the request, which has a place of its own. */
function innerFields(name: string, schema: Schema): Schema | null {
  if (name === "data" || objectOf(schema) !== null) return null;
  const told = resolve(schema);
  const one = told.oneOf?.find(({ properties }) => properties !== undefined) ?? told;
  return one.properties === undefined ? null : one;
}

function objectOf(schema: Schema) {
  const name = nameOf(schema) ?? nameOf(schema.items ?? {});
  return objects.find((each) => each.name === name) ?? null;
}

function typeHtml(schema: Schema): string {
  const object = objectOf(schema);
  if (object !== null) {
    const link = `<a href="#${object.id}">${object.heading.toLowerCase()}</a>`;
    return schema.items === undefined ? link : `list of: ${link}`;
  }
  return escapeHtml([typeOf(resolve(schema)), ...boundsOf(resolve(schema))].join(", "));
}

const typeNames: Record<string, string> = { integer: "whole number", array: "list", null: "null" };

function typeOf(schema: Schema): string {
  if (schema.const !== undefined) return `always ${JSON.stringify(schema.const)}`;
  if (schema.enum !== undefined) return schema.enum.join(", ");
  if (schema.oneOf !== undefined) return schema.oneOf.map(typeOf).join(" or ");
  if (schema.type === undefined) return "any JSON";
  const types = [schema.type].flat().map((type) => {
    if (type === "string" && schema.format === "date-time") return "time";
    if (type === "array" && schema.items !== undefined) return `list of ${typeOf(schema.items)}s`;
    return typeNames[type] ?? type;
  });
  return types.join(" or ");
}

function boundsOf(schema: Schema): string[] {
  const { minimum, maximum, minLength, maxLength, maxItems, items } = schema;
  const characters = maxLength ?? items?.maxLength;
  return [
    ...(maxItems === undefined ? [] : [`at most ${counted(maxItems)}`]),
    ...(maximum === undefined ? [] : [`${minimum ?? 0} to ${maximum}`]),
    ...(characters === undefined
      ? []
      : [
          `${minLength === undefined ? "at most" : `${minLength} to`} ${counted(characters)} characters${maxLength === undefined ? " each" : ""}`,
        ]),
    ...(schema.default === undefined ? [] : [`${String(schema.default)} by default`]),
  ];
}

function counted(number: number): string {
  return number.toLocaleString("en-US");
}

function answersHtml(answers: [string, Answered][], write: Write): string {
  const rows = answers.map(([status, { description, headers = {}, content }]) => {
    const object = objectOf(schemaOf(content) ?? {});
    const link =
      object === null || object.name === "Error"
        ? ""
        : ` Answers <a href="#${object.id}">${object.heading.toLowerCase()}</a>.`;
    const names = Object.keys(headers).filter((name) => name !== "X-Request-Id");
    const told = names.map(
      (name) => `<code>${name}</code>: ${write(headers[name]?.description ?? "")}`,
    );
    return `<div><dt><code>${status}</code></dt><dd><p>${write(description)}${link}</p>${told.map((each) => `<p>${each}</p>`).join("")}</dd></div>`;
  });
  return `<dl class="fields answers">${rows.join("")}</dl>`;
}

function codeHtml(
  { language, name, code }: Sample | { language: string; name: string; code: string },
  about: string,
): string {
  const { html } = highlight(code, language) ?? { html: escapeHtml(code) };
  return `<figure class="code" data-language="${language}"><figcaption>${escapeHtml(name)}</figcaption><pre tabindex="0" role="group" aria-label="${escapeHtml(`${about}: ${name}`)}"><code>${html}\n</code></pre></figure>`;
}

/** Text of the document with `code` in it. The code of an error leads to its explanation. */
function inline(text: string, errorCodes: ReadonlySet<string>): string {
  return escapeHtml(text).replaceAll(/`([^`]+)`/g, (_all, code: string) =>
    errorCodes.has(code)
      ? `<a href="errors#${code}"><code>${code}</code></a>`
      : `<code>${code}</code>`,
  );
}

function wordsIn(html: string): string {
  return html
    .replaceAll(/<[^>]+>/g, " ")
    .replaceAll(/&#(\d+);/g, (_all, code: string) => String.fromCharCode(Number(code)))
    .replaceAll(/\s+/g, " ")
    .trim();
}

function idOf({ operationId }: Operation): string {
  return slugOf(operationId.replaceAll(/([a-z])([A-Z])/g, "$1-$2"));
}

function slugOf(text: string): string {
  return text.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
}
