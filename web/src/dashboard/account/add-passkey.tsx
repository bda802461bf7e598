// Adds a passkey: a name to recognise it by, then the browser asks.

import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { fieldError, otherError } from "../api.ts";
import { Button } from "../parts/button.tsx";
import { Dialog, DialogActions } from "../parts/dialog.tsx";
import { TextField } from "../parts/field.tsx";
import { Icon } from "../parts/icon.tsx";
import { Problem } from "../parts/problem.tsx";
import { useToast } from "../parts/toast.tsx";
import { addPasskey } from "../passkeys.ts";
import { refresh } from "../queries.ts";
import { browserName } from "./browser-name.ts";

export function AddPasskey() {
  const [isOpen, setOpen] = useState(false);
  return (
    <Dialog
      title="Add a passkey"
      description="Your browser will ask you to confirm with your fingerprint, face or device code."
      open={isOpen}
      onOpenChange={setOpen}
      trigger={
        <Button>
          <Icon name="plus" />
          Add passkey
        </Button>
      }
    >
      {(close) => <AddPasskeyForm onDone={close} />}
    </Dialog>
  );
}

function AddPasskeyForm({ onDone }: { onDone: () => void }) {
  const [name, setName] = useState(() => browserName(navigator.userAgent));
  const toast = useToast();
  const adding = useMutation({
    mutationFn: () => addPasskey(name.trim()),
    onSuccess: async () => {
      await refresh("GET /me/passkeys", "GET /me");
      toast("The passkey was added. Next time, it signs you in.");
      onDone();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!adding.isPending) adding.mutate();
  };
  const problem = otherError(adding.error, ["name"]);
  return (
    <form className="form" onSubmit={submit}>
      <TextField
        label="Name"
        hint="To know it from others: the device or the password manager that keeps it."
        value={name}
        maxLength={80}
        onChange={(event) => setName(event.currentTarget.value)}
        error={fieldError(adding.error, "name")}
      />
      {problem !== null && <Problem error={problem} />}
      <DialogActions>
        <Button onClick={onDone}>Cancel</Button>
        <Button type="submit" variant="primary" isBusy={adding.isPending}>
          Go on
        </Button>
      </DialogActions>
    </form>
  );
}
