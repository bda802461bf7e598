// Who is signed in, and the way out.

import { useState } from "react";
import { Visible } from "../../look/visible-text.tsx";
import { leavePush } from "../push/this-browser.ts";
import { basePath } from "../service/base-path.ts";
import { ask, type InboxFailure, isFailure } from "../service/inbox-calls.ts";
import { Part } from "./part.tsx";
import { settingsWords } from "./settings-words.ts";

type AccountPartProps = { email: string; failed: (failure: InboxFailure) => string };

export function AccountPart({ email, failed }: AccountPartProps) {
  const { account } = settingsWords;
  const [problem, setProblem] = useState<string | null>(null);
  const leave = async () => {
    setProblem(null);
    const answer = await ask(`${basePath}/app/api/sign-out`, {});
    if (isFailure(answer) && answer.code !== "signed_out") return setProblem(failed(answer));
    try {
      // Drafts are this person's: the next one in this tab must not find them.
      sessionStorage.clear();
      await leavePush();
    } catch {
      // A browser that stores nothing has nothing of them. They are signed out, and must see that.
    }
    location.assign(`${basePath}/app/sign-in`);
  };
  return (
    <Part title={account.title}>
      <p>
        {account.signedInAs}
        <strong>
          <Visible text={email} />
        </strong>
      </p>
      <div className="settings-line">
        <a className="button" href={`${basePath}/app/account`}>
          {account.page}
        </a>
        <button type="button" className="button" onClick={leave}>
          {account.signOut}
        </button>
      </div>
      {problem !== null && (
        <p className="field-error" role="alert">
          {problem}
        </p>
      )}
    </Part>
  );
}
