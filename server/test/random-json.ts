// Random JSON texts as strangers might write them: odd numbers, escapes, white space, keys in any order.

import fc from "fast-check";

const space = fc.stringMatching(/^[ \t\n\r]{0,2}$/);

const numberText = fc.oneof(
  fc.stringMatching(/^-?(0|[1-9][0-9]{0,30})(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,4})?$/),
  fc.constantFrom("9007199254740993", "1.0", "1E400", "-0", "0.10", "1e-7"),
);

const escapeSequence = fc.oneof(
  fc.constantFrom('\\"', "\\\\", "\\/", "\\b", "\\f", "\\n", "\\r", "\\t", "\\u0000", "\\ud800"),
  fc.stringMatching(/^\\u[0-9a-fA-F]{4}$/),
);

const plainCharacters = fc
  .string({ unit: "binary", maxLength: 8 })
  .map((text) => JSON.stringify(text).slice(1, -1));

const stringText = fc
  .array(fc.oneof(escapeSequence, plainCharacters), { maxLength: 5 })
  .map((parts) => `"${parts.join("")}"`);

const { value } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    fc.oneof(numberText, stringText, fc.constantFrom("true", "false", "null")),
    fc
      .tuple(space, fc.array(fc.tuple(tie("value"), space), { maxLength: 5 }))
      .map(([before, items]) => `[${before}${items.map((each) => each.join("")).join(",")}]`),
    fc
      .tuple(
        space,
        fc.uniqueArray(fc.tuple(stringText, space, tie("value"), space), {
          maxLength: 5,
          selector: ([key]) => JSON.parse(key) as string,
        }),
      )
      .map(([before, members]) => {
        const texts = members.map(
          ([key, gap, member, after]) => `${before}${key}${gap}:${gap}${member}${after}`,
        );
        return `{${texts.join(",")}}`;
      }),
  ),
}));

export const randomSpace = space;
export const randomJsonText = value;
