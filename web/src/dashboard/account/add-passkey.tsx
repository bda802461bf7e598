// Adds a passkey: a name to recognise it by, then the browser asks.

import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { Dialog } from "../forms/dialog.tsx";
import { DialogForm } from "../forms/dialog-form.tsx";
import { TextField } from "../forms/field.tsx";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { useToast } from "../parts/toast.tsx";
import { fieldError } from "../service/api.ts";
import { addPasskey } from "../service/passkeys.ts";
import { refresh } from "../service/queries.ts";
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
      toast("The passkey was added. Use it the next time you sign in.");
      onDone();
    },
  });
  return (
    <DialogForm
      sending={adding}
      fields={["name"]}
      submitLabel="Continue"
      onSubmit={() => adding.mutate()}
      onCancel={onDone}
    >
      <TextField
        label="Name"
        hint="Name the device or the password manager that keeps it."
        value={name}
        maxLength={80}
        onChange={(event) => setName(event.currentTarget.value)}
        error={fieldError(adding.error, "name")}
      />
    </DialogForm>
  );
}
