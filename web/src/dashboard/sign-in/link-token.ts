// The token of a one-time link. It stands in the fragment, which browsers send to nobody, and does not stay there: an
// address is kept in histories and shown to whoever looks over a shoulder.

export function takeLinkToken(): string | null {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (token === null || token === "") return null;
  history.replaceState(history.state, "", location.pathname + location.search);
  return token;
}
