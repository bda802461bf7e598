// The names of logs, and the database in which one lives. A log that finds itself in another database was restored from a
// backup, and goes on under another name: under the old one it could contradict what it has already signed. It also goes
// on under another name where the service has another address, by which executors then look for its logs.

/** The first log of an owner has the plain name; those that follow are numbered from 2 on. Null is the installation. */
export function logOrigin(
  publicUrl: string,
  { workspaceId, generation }: { workspaceId: string | null; generation: number },
): string {
  const base = publicUrl.replace(/^[a-z]+:\/\//i, "").replace(/\/+$/, "");
  const of = workspaceId === null ? "" : `/${workspaceId}`;
  return `${base}/log${of}${generation === 1 ? "" : `/${generation}`}`;
}

/** Whether an origin is one that this address gives the owner's logs, of any generation. */
export function isOriginOf(
  origin: string,
  publicUrl: string,
  { workspaceId }: { workspaceId: string | null },
): boolean {
  const first = logOrigin(publicUrl, { workspaceId, generation: 1 });
  return origin.startsWith(first) && /^(?:\/[1-9]\d*)?$/.test(origin.slice(first.length));
}

/** Whether a workspace's log and one of the installation's were named by the same address. */
export function isBeside(origin: string, installation: string): boolean {
  return origin.startsWith(`${installation.replace(/\/[1-9]\d*$/, "")}/`);
}

/**
 * A home is the cluster's identifier, the database's oid and the timeline, with slashes between (`log_home()`). What can't
 * be read is "-", and says nothing.
 */
export function isSameHome(one: string, other: string): boolean {
  const others = other.split("/");
  return one.split("/").every((part, at) => isSamePart(part, others[at] ?? "-"));
}

function isSamePart(one: string, other: string): boolean {
  return one === other || one === "-" || other === "-";
}
