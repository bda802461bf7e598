// Signing in: a code by mail, a passkey, the company's own sign-in, or the one-time link that the terminal prints.

import { useMutation } from "@tanstack/react-query";
import { useLocation, useRouter, useSearch } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import type { Me } from "../../../../sdk/src/dashboard-contract.ts";
import { Brand } from "../../review/brand.tsx";
import { ApiError, call } from "../api.ts";
import { useDocumentTitle } from "../parts/page-head.tsx";
import { Problem } from "../parts/problem.tsx";
import { signInWithPasskey } from "../passkeys.ts";
import { useCall } from "../queries.ts";
import { AddressStep } from "../sign-in/address-step.tsx";
import { CodeStep } from "../sign-in/code-step.tsx";
import { takeLinkToken } from "../sign-in/link-token.ts";
import { welcome } from "../signing.ts";
import "./sign-in.css";

const oidcProblem = new ApiError(
  "sign_in_failed",
  "Your company’s sign-in did not let you in here. Try it again, or ask for a code by mail; whoever runs this service finds the reason in its log.",
  { status: 0 },
);

export function SignInPage() {
  useDocumentTitle("Sign in");
  const { next, problem } = useSearch({ from: "/app/sign-in" });
  const { history } = useRouter();
  const { hash } = useLocation();
  const { data: options } = useCall("GET /sign-in");
  const [email, setEmail] = useState("");
  const [isCodeSent, setCodeSent] = useState(false);
  const enter = (me: Me) => history.replace(welcome(me, next));
  const byLink = useMutation({
    mutationFn: (token: string) => call("POST /sign-in/link", { body: { token } }),
    onSuccess: enter,
  });
  const byPasskey = useMutation({ mutationFn: signInWithPasskey, onSuccess: enter });
  const { mutate: followLink } = byLink;
  useEffect(() => {
    const token = takeLinkToken();
    if (token !== null) followLink(token);
  }, [hash, followLink]);
  if (byLink.isPending || byLink.isSuccess) return <FollowingLink />;
  const error = byLink.error ?? byPasskey.error ?? (problem === "oidc" ? oidcProblem : null);
  return (
    <main className="sign-in">
      <Brand />
      <div className="sign-in-card">
        <header className="sign-in-head">
          <h1>{isCodeSent ? "Look into your mail" : "Sign in"}</h1>
          <p className="quiet">
            {isCodeSent ? (
              <>
                If <strong className="sign-in-address">{email.trim()}</strong> may sign in here, a
                code is on its way. It works for ten minutes.
              </>
            ) : (
              "To see what your agents ask for, and to run your workspace."
            )}
          </p>
        </header>
        {error !== null && !isCodeSent && <Problem error={error} />}
        {isCodeSent ? (
          <CodeStep
            email={email}
            isMailKept={options?.isMailKept ?? false}
            onSignedIn={enter}
            onBack={() => setCodeSent(false)}
          />
        ) : (
          <AddressStep
            email={email}
            onEmail={setEmail}
            options={options}
            next={next}
            onSent={() => setCodeSent(true)}
            passkey={{
              use: () => byPasskey.mutate(),
              isBusy: byPasskey.isPending || byPasskey.isSuccess,
            }}
          />
        )}
      </div>
      <p className="sign-in-note">
        No password, ever. To decide about a request you need no account: open the link in its mail.
      </p>
    </main>
  );
}

function FollowingLink() {
  return (
    <main className="sign-in">
      <Brand />
      <p className="quiet" role="status">
        Signing you in …
      </p>
    </main>
  );
}
