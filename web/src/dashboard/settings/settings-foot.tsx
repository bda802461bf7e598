// The foot of a form of settings: how much is unsaved, and its buttons.

import { Button } from "../parts/button.tsx";

type SettingsFootProps = {
  changes: number;
  isSaving: boolean;
  onDiscard: () => void;
  /** Two forms of one page have other words. */
  words?: { save: string; saved: string };
};

export function SettingsFoot({
  changes,
  isSaving,
  onDiscard,
  words = { save: "Save changes", saved: "All changes saved." },
}: SettingsFootProps) {
  return (
    <div className={changes > 0 ? "settings-foot settings-foot-open" : "settings-foot"}>
      <p role="status" className="quiet">
        {describeChanges(changes, words.saved)}
      </p>
      {changes > 0 && <Button onClick={onDiscard}>Discard</Button>}
      <Button type="submit" variant="primary" isBusy={isSaving} disabled={changes === 0}>
        {words.save}
      </Button>
    </div>
  );
}

function describeChanges(count: number, saved: string): string {
  if (count === 0) return saved;
  return count === 1 ? "1 unsaved change." : `${count} unsaved changes.`;
}
