// The first step: an address, or another way than a code.

import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import type { SignInOptions } from "../../../../server/src/wire/dashboard-sign-in.ts";
import { TextField } from "../forms/field.tsx";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { call, fieldError, otherError } from "../service/api.ts";
import { basePath } from "../service/base-path.ts";
import { hasPasskeys } from "../service/passkeys.ts";
import { keepNext } from "../session/signing.ts";
import { Problem } from "../states/problem.tsx";

type AddressStepProps = {
  email: string;
  onEmail: (email: string) => void;
  /** Undefined while loading. */
  options: SignInOptions | undefined;
  next: string | undefined;
  onSent: () => void;
  passkey: { use: () => void; isBusy: boolean };
};

export function AddressStep(props: AddressStepProps) {
  const { email, onEmail, options, next, onSent, passkey } = props;
  const [isMissing, setMissing] = useState(false);
  const sending = useMutation({
    mutationFn: () => call("POST /sign-in/code", { body: { email: email.trim() } }),
    onSuccess: onSent,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const isEmpty = email.trim() === "";
    setMissing(isEmpty);
    if (!isEmpty && !sending.isPending) sending.mutate();
  };
  const problem = otherError(sending.error, ["email"]);
  return (
    <>
      <form className="form" onSubmit={submit} noValidate>
        <TextField
          label="Your e-mail address"
          type="email"
          name="email"
          autoComplete="email"
          autoCapitalize="none"
          spellCheck={false}
          placeholder="you@company.com"
          autoFocus
          value={email}
          onChange={(event) => onEmail(event.currentTarget.value)}
          error={
            isMissing
              ? "Type the address you were invited with."
              : fieldError(sending.error, "email")
          }
        />
        <Problem error={problem} />
        <Button type="submit" variant="primary" isBusy={sending.isPending}>
          Mail me a code
        </Button>
      </form>
      <OtherWays options={options} next={next} passkey={passkey} />
    </>
  );
}

type OtherWaysProps = Pick<AddressStepProps, "options" | "next" | "passkey">;

function OtherWays({ options, next, passkey }: OtherWaysProps) {
  const oidcName = options?.oidcName ?? null;
  if (!hasPasskeys() && oidcName === null) return null;
  return (
    <div className="sign-in-others">
      <p className="sign-in-or">
        <span>or</span>
      </p>
      {hasPasskeys() && (
        <Button isBusy={passkey.isBusy} onClick={passkey.use}>
          <Icon name="passkey" />
          Use a passkey
        </Button>
      )}
      {oidcName !== null && (
        <a className="button" href={`${basePath}/app/sign-in/oidc`} onClick={() => keepNext(next)}>
          <Icon name="account" />
          Continue with {oidcName}
        </a>
      )}
    </div>
  );
}
