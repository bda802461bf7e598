// Dialogs, on Radix's: the focus goes in, stays in and comes back, Escape closes, the rest is inert.

import * as AlertDialog from "@radix-ui/react-alert-dialog";
import * as RadixDialog from "@radix-ui/react-dialog";
import { type ReactNode, useEffect, useState } from "react";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { Problem } from "../states/problem.tsx";

type DialogProps = {
  title: ReactNode;
  description?: ReactNode;
  /** The button that opens it; none if `open` is given. */
  trigger?: ReactNode;
  open?: boolean;
  onOpenChange?: (isOpen: boolean) => void;
  /** A click outside or Escape doesn't close it: for a secret that is shown once. */
  isSticky?: boolean;
  /** Nothing closes it while its call is under way, because somebody must read the answer. */
  isBusy?: boolean;
  children: ReactNode | ((close: () => void) => ReactNode);
};

export function Dialog(props: DialogProps) {
  const { title, description, trigger, isSticky = false, isBusy = false, children } = props;
  const [isOpen, setOpen] = useOpen(props);
  const change = (isWanted: boolean) => {
    if (!isBusy) setOpen(isWanted);
  };
  const keep = (event: Event) => {
    if (isSticky) event.preventDefault();
  };
  return (
    <RadixDialog.Root open={isOpen} onOpenChange={change}>
      {trigger !== undefined && <RadixDialog.Trigger asChild>{trigger}</RadixDialog.Trigger>}
      <RadixDialog.Portal>
        <RadixDialog.Overlay className="scrim" />
        <RadixDialog.Content
          className="window"
          onPointerDownOutside={keep}
          onEscapeKeyDown={keep}
          {...(description === undefined ? { "aria-describedby": undefined } : {})}
        >
          <header className="window-head">
            <RadixDialog.Title className="window-title">{title}</RadixDialog.Title>
            {!isSticky && (
              <RadixDialog.Close className="icon-button" aria-label="Close">
                <Icon name="close" />
              </RadixDialog.Close>
            )}
          </header>
          {description !== undefined && (
            <RadixDialog.Description asChild>
              <div className="window-description">{description}</div>
            </RadixDialog.Description>
          )}
          {typeof children === "function" ? children(() => change(false)) : children}
        </RadixDialog.Content>
      </RadixDialog.Portal>
    </RadixDialog.Root>
  );
}

/** The buttons at the end of a dialog, the confirming one last. */
export function DialogActions({ children }: { children: ReactNode }) {
  return <div className="window-actions">{children}</div>;
}

type ConfirmDialogProps = {
  title: ReactNode;
  /** Says in a sentence what will happen. */
  description: ReactNode;
  /** Names the action: "Revoke key", never "OK". */
  confirmLabel: string;
  /** Closes the dialog and changes nothing. Set it if the action itself is to cancel. */
  dismissLabel?: string;
  isDanger?: boolean;
  /** False while the dialog can't say yet what will happen: until then nobody can go ahead. */
  isReady?: boolean;
  trigger?: ReactNode;
  open?: boolean;
  onOpenChange?: (isOpen: boolean) => void;
  /** The dialog closes when it is done, and shows what it throws. */
  onConfirm: () => Promise<unknown>;
  /** More to fill in, such as a reason. */
  children?: ReactNode;
};

export function ConfirmDialog(props: ConfirmDialogProps) {
  const { title, description, confirmLabel, dismissLabel = "Cancel", isDanger = false } = props;
  const { isReady = true, trigger, onConfirm, children } = props;
  const [isOpen, setOpen] = useOpen(props);
  const isSettled = useSettled(isOpen) || !isDanger;
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const change = (isWanted: boolean) => {
    if (isBusy) return;
    setError(null);
    setOpen(isWanted);
  };
  const confirm = async () => {
    setBusy(true);
    setError(null);
    try {
      await onConfirm();
      setOpen(false);
    } catch (fault) {
      setError(fault);
    } finally {
      setBusy(false);
    }
  };
  return (
    <AlertDialog.Root open={isOpen} onOpenChange={change}>
      {trigger !== undefined && <AlertDialog.Trigger asChild>{trigger}</AlertDialog.Trigger>}
      <AlertDialog.Portal>
        <AlertDialog.Overlay className="scrim" />
        <AlertDialog.Content className="window window-small">
          <AlertDialog.Title className="window-title">{title}</AlertDialog.Title>
          <AlertDialog.Description asChild>
            <div className="window-description">{description}</div>
          </AlertDialog.Description>
          {children}
          <Problem error={error} />
          <DialogActions>
            <AlertDialog.Cancel asChild>
              <Button disabled={isBusy}>{dismissLabel}</Button>
            </AlertDialog.Cancel>
            <Button
              variant={isDanger ? "danger" : "primary"}
              isBusy={isBusy}
              disabled={!isReady || !isSettled}
              onClick={confirm}
            >
              {confirmLabel}
            </Button>
          </DialogActions>
        </AlertDialog.Content>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}

/** The second tap of a double tap must not confirm what nobody has read. */
const settleMs = 500;

function useSettled(isOpen: boolean): boolean {
  const [isSettled, setSettled] = useState(false);
  useEffect(() => {
    setSettled(false);
    if (!isOpen) return;
    const timer = setTimeout(() => setSettled(true), settleMs);
    return () => clearTimeout(timer);
  }, [isOpen]);
  return isSettled;
}

type Opening = Pick<DialogProps, "open" | "onOpenChange">;

/** The dialog keeps its own state, or its owner does. */
function useOpen({ open, onOpenChange }: Opening): [boolean, (isOpen: boolean) => void] {
  const [isOpen, setOpen] = useState(false);
  return [
    open ?? isOpen,
    (isWanted) => {
      setOpen(isWanted);
      onOpenChange?.(isWanted);
    },
  ];
}
