// Connects a workspace to Slack. The tokens are checked by calling Slack, kept sealed, and never shown again.

import { useMutation } from "@tanstack/react-query";
import { type ReactElement, useId, useState } from "react";
import type {
  NewSlackConnection,
  SlackConnection,
  SlackMode,
} from "../../../../server/src/wire/dashboard-channels.ts";
import { Visible } from "../../look/visible-text.tsx";
import { Dialog } from "../forms/dialog.tsx";
import { DialogForm } from "../forms/dialog-form.tsx";
import { TextField } from "../forms/field.tsx";
import { useToast } from "../parts/toast.tsx";
import { call, fieldError } from "../service/api.ts";
import { refresh } from "../service/queries.ts";
import { modeWords } from "./channel-words.ts";
import { SlackChoices } from "./slack-choices.tsx";
import { SlackManifest } from "./slack-manifest.tsx";

type ConnectSlackDialogProps = {
  workspaceId: string;
  before: SlackConnection | null;
  trigger: ReactElement;
};

const modes: readonly SlackMode[] = ["socket", "http"];
const fields = ["botToken", "appToken", "signingSecret"] as const;

export function ConnectSlackDialog({ workspaceId, before, trigger }: ConnectSlackDialogProps) {
  const fresh = { mode: before?.mode ?? "socket", botToken: "", proof: "" } as const;
  const choice = {
    matchesEmail: before?.matchesEmail ?? false,
    showsPayload: before?.showsPayload ?? true,
  };
  const [isOpen, setOpen] = useState(false);
  const [form, setForm] = useState<Form>({ ...fresh, ...choice });
  const toast = useToast();
  const connecting = useMutation({
    mutationFn: () =>
      call("POST /workspaces/:workspaceId/slack", {
        params: { workspaceId },
        body: bodyOf(form),
      }),
    onSuccess: async (connected) => {
      await refresh("GET /workspaces/:workspaceId/channels");
      setOpen(false);
      toast(
        <>
          Connected to <Visible text={connected.teamName} />
        </>,
      );
    },
  });
  const change = (changes: Partial<Form>) => setForm({ ...form, ...changes });
  return (
    <Dialog
      title="Connect Slack"
      description="Make an app in your Slack workspace from this manifest, install it, and paste its tokens. They are checked with Slack, kept sealed, and never shown again."
      trigger={trigger}
      open={isOpen}
      isBusy={connecting.isPending}
      onOpenChange={(next) => {
        setOpen(next);
        // Tokens don't stay in the page's memory.
        setForm({ ...fresh, ...choice });
        connecting.reset();
      }}
    >
      <DialogForm
        sending={connecting}
        fields={fields}
        submitLabel="Connect"
        onSubmit={() => connecting.mutate()}
        onCancel={() => setOpen(false)}
      >
        <ModeChoice mode={form.mode} onChange={(mode) => change({ mode, proof: "" })} />
        <SlackChoices choice={form} onChange={change} />
        <SlackManifest
          workspaceId={workspaceId}
          mode={form.mode}
          matchesEmail={form.matchesEmail}
        />
        <SecretField
          label="Bot token"
          hint="Begins with xoxb-. In Slack: OAuth & Permissions, after the app was installed."
          value={form.botToken}
          onChange={(botToken) => change({ botToken })}
          error={fieldError(connecting.error, "botToken")}
        />
        {form.mode === "socket" ? (
          <SecretField
            label="App-level token"
            hint="Begins with xapp-. In Slack: Basic Information, App-Level Tokens, with the scope connections:write."
            value={form.proof}
            onChange={(proof) => change({ proof })}
            error={fieldError(connecting.error, "appToken")}
          />
        ) : (
          <SecretField
            label="Signing secret"
            hint="In Slack: Basic Information, App Credentials."
            value={form.proof}
            onChange={(proof) => change({ proof })}
            error={fieldError(connecting.error, "signingSecret")}
          />
        )}
      </DialogForm>
    </Dialog>
  );
}

type Form = {
  mode: SlackMode;
  botToken: string;
  /** The app-level token, or the signing secret. */
  proof: string;
  matchesEmail: boolean;
  showsPayload: boolean;
};

function bodyOf({ mode, botToken, proof, matchesEmail, showsPayload }: Form): NewSlackConnection {
  const rest = { mode, botToken: botToken.trim(), matchesEmail, showsPayload };
  const secret = proof.trim();
  return mode === "socket" ? { ...rest, appToken: secret } : { ...rest, signingSecret: secret };
}

type SecretFieldProps = {
  label: string;
  hint: string;
  value: string;
  onChange: (value: string) => void;
  error: string | null;
};

function SecretField({ onChange, ...rest }: SecretFieldProps) {
  return (
    <TextField
      {...rest}
      type="password"
      autoComplete="off"
      spellCheck={false}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}

type ModeChoiceProps = { mode: SlackMode; onChange: (mode: SlackMode) => void };

function ModeChoice({ mode, onChange }: ModeChoiceProps) {
  const id = useId();
  return (
    <fieldset className="choices">
      <legend>How clicks reach this service</legend>
      {modes.map((each) => (
        <label className="choice" key={each}>
          <input
            type="radio"
            name={id}
            checked={each === mode}
            onChange={() => onChange(each)}
            aria-describedby={`${id}-${each}`}
          />
          <span>
            <span className="choice-name">{modeWords[each].name}</span>
            <span className="choice-hint" id={`${id}-${each}`}>
              {modeWords[each].hint}
            </span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}
