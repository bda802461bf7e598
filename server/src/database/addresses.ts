// Addresses of databases. One may name several hosts, as libpq's do; pg itself knows only one.

import { OperatorFault } from "../domain/operator-fault.ts";

const form = /^(postgres(?:ql)?:\/\/(?:[^/?#@]*@)?)([^/?#@]*)([^?#]*)(?:\?([^#]*))?/;
/** Sessions that libpq would look for and that take our writes, or don't say. */
const writing = new Set(["any", "read-write", "primary"]);

/** An address for each host, in their order. One that names a single host is answered as it is. */
export function splitAddress(address: string): string[] {
  const [, start = "", authority = "", path = "", query = ""] = form.exec(address) ?? [];
  const parameters = new URLSearchParams(query);
  const hosts = parameters.get("host")?.split(",") ?? [];
  if (hosts.length > 1) {
    const ports = parameters.get("port")?.split(",") ?? [];
    return hosts.map((host, n) => {
      const port = ports.length > 1 ? ports[n] : ports[0];
      return withQuery(start + authority + path, query, { host, ...(port ? { port } : {}) });
    });
  }
  const places = authority.split(",");
  if (places.length < 2) return [address];
  return places.map((place) => withQuery(start + place + path, query, {}));
}

function withQuery(base: string, query: string, changed: Record<string, string>): string {
  const parameters = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changed)) parameters.set(name, value);
  const text = parameters.toString();
  return text === "" ? base : `${base}?${text}`;
}

/** The options for PostgreSQL that an address has, and the address without them. */
export function takeOptions(address: string): { address: string; options: string | null } {
  const [start = "", query = ""] = address.split("?", 2);
  const parameters = new URLSearchParams(query);
  const options = parameters.get("options");
  if (options === null) return { address, options };
  parameters.delete("options");
  return { address: withQuery(start, parameters.toString(), {}), options };
}

/** Why this address can't be used, or null. Whether each single address is one is for pg to say. */
export function flawOfHosts(address: string): string | null {
  const [, , , , query = ""] = form.exec(address) ?? [];
  const parameters = new URLSearchParams(query);
  const sought = parameters.get("target_session_attrs");
  if (sought !== null && !writing.has(sought)) {
    return `asks for target_session_attrs=${sought}, but the service writes: use read-write`;
  }
  const hosts = parameters.get("host")?.split(",").length ?? 1;
  const ports = parameters.get("port")?.split(",").length ?? 1;
  return ports === 1 || ports === hosts
    ? null
    : `names ${hosts} host(s) and ${ports} ports: give each host its port, or all the same one`;
}

export type DatabaseAddresses = {
  /** Null means the embedded PostgreSQL under dataDir. */
  databaseUrl: string | null;
  /** PostgreSQL itself, where databaseUrl leads through a pooler. Null means that databaseUrl does. */
  databaseDirectUrl: string | null;
  /** Null means that the service's role owns its tables, or that somebody else migrates them. */
  databaseOwnerUrl: string | null;
};

export function readDatabaseAddresses(values: {
  DATABASE_URL?: string | undefined;
  DATABASE_DIRECT_URL?: string | undefined;
  DATABASE_OWNER_URL?: string | undefined;
}): DatabaseAddresses {
  const { DATABASE_URL: url, DATABASE_DIRECT_URL: direct, DATABASE_OWNER_URL: owner } = values;
  const without = "goes with DATABASE_URL, which is missing; the embedded PostgreSQL";
  if (url === undefined && owner !== undefined) {
    throw new OperatorFault(`DATABASE_OWNER_URL ${without} has both roles by itself.`);
  }
  if (url === undefined && direct !== undefined) {
    throw new OperatorFault(`DATABASE_DIRECT_URL ${without} has no pooler in front.`);
  }
  return {
    databaseUrl: url ?? null,
    databaseDirectUrl: direct ?? null,
    databaseOwnerUrl: owner ?? null,
  };
}
