// The address of the mail server, as SMTP_URL has it: smtp://user:password@host:port or smtps://…
//
// smtps:// speaks TLS from the start (port 465 unless it says otherwise). smtp:// begins in the clear (port 587) and
// goes on with STARTTLS when the server offers it; with a password, and to another machine, it goes on in no other
// way. One option exists: ?tls=required insists on STARTTLS, ?tls=never does without it, for a server on this machine
// or network that offers it with a certificate nobody can verify. A private authority is added to those that Node
// trusts with NODE_EXTRA_CA_CERTS; there is no option that leaves certificates unverified.

export type SmtpServer = {
  host: string;
  port: number;
  tls: "from_the_start" | "required" | "when_offered" | "never";
  credentials: { user: string; password: string } | null;
};

/** Says what is wrong with an address of a mail server, or null when it is fine. */
export function flawOfSmtpUrl(text: string): string | null {
  const parsed = parseSmtpUrl(text);
  return "flaw" in parsed ? parsed.flaw : null;
}

export function parseSmtpUrl(text: string): SmtpServer | { flaw: string } {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^smtps?:$/.test(url.protocol) || url.hostname === "") {
    return { flaw: "must be an address such as smtps://user:password@smtp.example" };
  }
  const credentials = credentialsOf(url);
  if (credentials === "broken") {
    return {
      flaw: "has a user name without a password, or a % in them that is not written as %25",
    };
  }
  const isImplicit = url.protocol === "smtps:";
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const port = url.port === "" ? (isImplicit ? 465 : 587) : Number(url.port);
  const wish = wishedTls(url);
  const isExposed = credentials !== null && !isLoopback(host);
  if (wish === "unknown" || url.hash !== "" || !["", "/"].includes(url.pathname)) {
    return { flaw: "may end in ?tls=required or ?tls=never, and in nothing else" };
  }
  if (isImplicit && wish !== null) return { flaw: "smtps:// always uses TLS: leave ?tls= out" };
  if (!isImplicit && port === 465) {
    return { flaw: "must begin with smtps://, because port 465 speaks TLS from the start" };
  }
  if (wish === "never" && isExposed) {
    return { flaw: "would send the password in the clear with ?tls=never" };
  }
  const tls = isImplicit ? "from_the_start" : (wish ?? (isExposed ? "required" : "when_offered"));
  return { host, port, tls, credentials };
}

function credentialsOf({ username, password }: URL): SmtpServer["credentials"] | "broken" {
  if (username === "" && password === "") return null;
  if (username === "" || password === "") return "broken";
  try {
    return { user: decodeURIComponent(username), password: decodeURIComponent(password) };
  } catch {
    return "broken";
  }
}

function wishedTls({ searchParams }: URL): "required" | "never" | "unknown" | null {
  const [first, ...others] = [...searchParams];
  if (first === undefined) return null;
  const [name, value] = first;
  const isKnown = others.length === 0 && name === "tls";
  return isKnown && (value === "required" || value === "never") ? value : "unknown";
}

function isLoopback(host: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/i.test(host);
}
