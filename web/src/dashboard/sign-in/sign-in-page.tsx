// Signing in: a code by mail, a passkey, the company's own sign-in, or the one-time link that the terminal prints.

import { useMutation } from "@tanstack/react-query";
import { useNavigate, useRouter, useSearch } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import type { Me } from "../../../../server/src/wire/dashboard-contract.ts";
import { Brand } from "../../look/brand.tsx";
import { useDocumentTitle } from "../parts/page-head.tsx";
import { ApiError } from "../service/api.ts";
import { basePath } from "../service/base-path.ts";
import { signInWithPasskey } from "../service/passkeys.ts";
import { useCall } from "../service/queries.ts";
import { keepAddress, keptAddress } from "../session/kept-address.ts";
import { isIn, leadTo, welcome } from "../session/signing.ts";
import { Problem } from "../states/problem.tsx";
import { AddressStep } from "./address-step.tsx";
import { CodeStep } from "./code-step.tsx";
import { LinkQuestion } from "./link-question.tsx";
import { useOneTimeLink } from "./use-one-time-link.ts";
import "./sign-in.css";

/** The problems that a redirect to this page may name, since it can't carry words. */
const problems: Record<string, string | undefined> = {
  oidc: "Your company’s sign-in didn’t work. Try again, or sign in with a code by mail. The operator of this service finds the reason in its log.",
  too_many: "Too many tries to sign in from your network. Wait a minute, then try again.",
};

export function SignInPage() {
  useDocumentTitle("Sign in");
  const { next, problem, step } = useSearch({ from: "/app/sign-in" });
  const navigate = useNavigate();
  const { history } = useRouter();
  // A person who goes back here from the dashboard is signed in already. A link is different: it asks.
  const [wasIn] = useState(() => isIn() && location.hash === "");
  const { data: options } = useCall("GET /sign-in");
  const [email, setEmail] = useState(keptAddress);
  // The step is in the history: the code stays good after a reload or a step back.
  const isCodeSent = step === "code" && email !== "";
  const enter = (me: Me) => leadTo(welcome(me, next), history);
  const byLink = useOneTimeLink(enter);
  const byPasskey = useMutation({ mutationFn: signInWithPasskey, onSuccess: enter });
  useEffect(() => {
    if (wasIn) history.replace(`${basePath}/app`);
  }, [wasIn, history]);
  if (wasIn) return null;
  if (byLink.question !== null) {
    const { me, goOn } = byLink.question;
    return <LinkQuestion email={me.email} onGoOn={goOn} onStay={() => enter(me)} />;
  }
  if (byLink.isUnderWay) return <FollowingLink />;
  const kept = next === undefined ? {} : { next };
  const goToCode = () => {
    keepAddress(email.trim());
    void navigate({ to: "/app/sign-in", search: { ...kept, step: "code" } });
  };
  const error = byLink.error ?? byPasskey.error ?? problemOf(problem);
  return (
    <main className="sign-in">
      <Brand />
      <div className="sign-in-card">
        <header className="sign-in-head">
          <h1>{isCodeSent ? "Check your mail" : "Sign in"}</h1>
          <p className="quiet">
            {isCodeSent ? (
              <>
                If <strong className="sign-in-address">{email.trim()}</strong> may sign in here, a
                code is on its way. It works for ten minutes.
              </>
            ) : (
              "See what waits for you, your agents’ requests, and your workspace."
            )}
          </p>
        </header>
        {error !== null && !isCodeSent && <Problem error={error} />}
        {isCodeSent ? (
          <CodeStep
            email={email}
            isMailKept={options?.isMailKept ?? false}
            onSignedIn={enter}
            onBack={() => void navigate({ to: "/app/sign-in", search: kept, replace: true })}
          />
        ) : (
          <AddressStep
            email={email}
            onEmail={setEmail}
            options={options}
            next={next}
            onSent={goToCode}
            passkey={{
              use: () => byPasskey.mutate(),
              isBusy: byPasskey.isPending || byPasskey.isSuccess,
            }}
          />
        )}
      </div>
      <p className="sign-in-note">
        No password, ever. You don’t need an account to decide a request: open the link in its mail.
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

function problemOf(problem: string | undefined): ApiError | null {
  const message = Object.hasOwn(problems, problem ?? "") ? problems[problem ?? ""] : undefined;
  return message === undefined ? null : new ApiError("sign_in_failed", message, { status: 0 });
}
