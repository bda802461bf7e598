// The second step: the code from the mail. It is sent at the sixth digit.

import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useRef, useState } from "react";
import type { Me } from "../../../../server/src/wire/dashboard-contract.ts";
import { Field } from "../forms/field.tsx";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { useToast } from "../parts/toast.tsx";
import { call, fieldError, otherError } from "../service/api.ts";
import { basePath } from "../service/base-path.ts";
import { Problem } from "../states/problem.tsx";
import { codeDigits, toCodeDigits } from "./code-digits.ts";

type CodeStepProps = {
  email: string;
  isMailKept: boolean;
  onSignedIn: (me: Me) => void;
  onBack: () => void;
};

export function CodeStep({ email, isMailKept, onSignedIn, onBack }: CodeStepProps) {
  const [code, setCode] = useState("");
  const [isShort, setShort] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const toast = useToast();
  const verifying = useMutation({
    mutationFn: (typed: string) =>
      call("POST /sign-in/code/verify", { body: { email: email.trim(), code: typed } }),
    onSuccess: onSignedIn,
    onError: () => field.current?.select(),
  });
  const sending = useMutation({
    mutationFn: () => call("POST /sign-in/code", { body: { email: email.trim() } }),
    onSuccess: () => {
      setCode("");
      verifying.reset();
      toast("A new code is on its way. Older ones no longer work.");
      field.current?.focus();
    },
  });
  const type = (typed: string) => {
    const digits = toCodeDigits(typed);
    const isComplete = digits.length === codeDigits && digits !== code;
    setCode(digits);
    setShort(false);
    if (isComplete && !verifying.isPending) verifying.mutate(digits);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setShort(code.length < codeDigits);
    if (code.length === codeDigits && !verifying.isPending) verifying.mutate(code);
  };
  const isOver = verifying.isPending || verifying.isSuccess;
  const problem = otherError(verifying.error, ["code"]) ?? sending.error;
  return (
    <>
      {isMailKept && <KeptMailHint />}
      <form className="form" onSubmit={submit} noValidate>
        <Field
          label="Six-digit code"
          error={isShort ? "The code has six digits." : fieldError(verifying.error, "code")}
        >
          {(control) => (
            <input
              {...control}
              ref={field}
              className="field sign-in-code"
              name="code"
              inputMode="numeric"
              autoComplete="one-time-code"
              pattern="[0-9]*"
              placeholder="······"
              // biome-ignore lint/a11y/noAutofocus: the step before asked for this, and there is nothing else to do
              autoFocus
              readOnly={isOver}
              value={code}
              onChange={(event) => type(event.currentTarget.value)}
            />
          )}
        </Field>
        <Problem error={problem} />
        <Button type="submit" variant="primary" isBusy={isOver}>
          Sign in
        </Button>
      </form>
      <div className="sign-in-foot">
        <button type="button" className="link-button" onClick={onBack}>
          Use another address
        </button>
        <button
          type="button"
          className="link-button"
          aria-disabled={sending.isPending}
          onClick={() => {
            if (!sending.isPending) sending.mutate();
          }}
        >
          Send a new code
        </button>
      </div>
    </>
  );
}

function KeptMailHint() {
  return (
    <p className="sign-in-hint">
      <Icon name="mail" />
      <span>
        This service has no mail server yet. The code is printed in its terminal and shown at{" "}
        <a href={`${basePath}/dev/mail`} target="_blank" rel="noreferrer">
          /dev/mail
        </a>
        .
      </span>
    </p>
  );
}
