// An argument named __proto__ must be refused like every other unknown one. The library drops it without a word before a
// tool's schema sees it, so its name is changed first, to one that no tool has either.

/** The message, with an argument `__proto__` under a name that is refused. Payloads keep their keys. */
export function withNamedArguments<Message>(message: Message): Message {
  const { params } = Object(message) as { params?: { arguments?: unknown } };
  const given: unknown = Object(params).arguments;
  if (typeof given !== "object" || given === null || !Object.hasOwn(given, hidden)) return message;
  const named = Object.entries(given).map(([name, value]) =>
    name === hidden ? [`argument ${hidden}`, value] : [name, value],
  );
  return { ...message, params: { ...params, arguments: Object.fromEntries(named) } };
}

const hidden = "__proto__";
