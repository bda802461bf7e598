// Takes an address apart, so that its host can stand out. The service lets only such addresses through as every program
// reads alike, so the first slash after the host ends it.

export type AddressParts = { scheme: string; host: string; rest: string };

export function addressParts(address: string): AddressParts {
  const [, scheme = "", host = address, rest = ""] =
    /^([a-z]+:\/\/)([^/?#\\]*)(.*)$/s.exec(address) ?? [];
  return { scheme, host, rest };
}
