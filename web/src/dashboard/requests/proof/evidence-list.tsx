// The evidence of each vote: what was shown, for how long, and how the voter proved who they are.

import { toVisibleText } from "../../../../../server/src/domain/shown/text/visible-text.ts";
import type { RequestEvidence } from "../../../../../server/src/wire/dashboard-evidence.ts";
import { Fact } from "../../../look/fact.tsx";
import { Visible } from "../../../look/visible-text.tsx";
import { browserName } from "../../account/browser-name.ts";
import { When } from "../../parts/when.tsx";
import { openWords, wayInWords } from "./evidence-words.ts";
import { ShortCode } from "./short-code.tsx";

export function EvidenceList({ evidence }: { evidence: readonly RequestEvidence[] }) {
  if (evidence.length === 0) {
    return <p className="quiet">This was decided before evidence was kept.</p>;
  }
  return (
    <ol className="evidence">
      {evidence.map((vote, at) => (
        <li key={at}>
          <Vote vote={vote} />
        </li>
      ))}
    </ol>
  );
}

function Vote({ vote }: { vote: RequestEvidence }) {
  return (
    <>
      <p className="evidence-voter">
        <Visible text={vote.email} /> {vote.verdict === "approve" ? "approved" : "rejected"}
        {vote.for !== null && (
          <>
            {" "}
            for <Visible text={vote.for} />
          </>
        )}{" "}
        <span className="quiet">
          <When at={vote.at} />
          {vote.revision > 1 && `, version ${vote.revision} of the payload`}
        </span>
      </p>
      <dl className="facts">
        <Fact name="Way in">
          <Visible text={wayInWords(vote.amr)} />
        </Fact>
        <Fact name="Page was open">
          {openWords(vote.openMs)}
          {vote.openedAt !== null && (
            <span className="quiet">
              {" "}
              from <When at={vote.openedAt} />
            </span>
          )}
        </Fact>
        <Fact name={`Everything shown (version ${vote.shown.v})`}>
          <ShortCode code={vote.shown.digest} label="Copy the digest of what was shown" />
        </Fact>
        <Fact name="Address">
          {vote.address === null ? (
            <span className="quiet">Not known</span>
          ) : (
            <Visible text={vote.address} />
          )}
        </Fact>
        <Fact name="Browser, by its own word">
          {vote.userAgent === null ? (
            <span className="quiet">Not known</span>
          ) : (
            <span title={toVisibleText(vote.userAgent)}>{browserName(vote.userAgent)}</span>
          )}
        </Fact>
        <Fact name="Version of the page">
          {vote.page === null ? (
            <span className="quiet">No page</span>
          ) : (
            <ShortCode code={vote.page} label="Copy the version of the page" />
          )}
        </Fact>
        {vote.credentialId !== null && (
          <Fact name="Signed with the passkey">
            <ShortCode code={vote.credentialId} label="Copy the passkey’s id" />
          </Fact>
        )}
      </dl>
    </>
  );
}
