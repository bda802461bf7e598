// The keys of a workspace: active ones, and, folded, revoked ones, because the activity names them.

import type { ApiKey } from "../../../../server/src/wire/dashboard-keys.ts";
import { Visible } from "../../look/visible-text.tsx";
import { RedirectAddress } from "../connect/redirect-address.tsx";
import { When } from "../parts/when.tsx";
import { ChangeKeyDialog } from "./change-key-dialog.tsx";
import { RevokeKey } from "./revoke-key.tsx";

type KeyListProps = {
  keys: readonly ApiKey[];
  /** There are more revoked keys than in this list. */
  isMore: boolean;
  workspaceId: string;
  canChange: boolean;
};

export function KeyList({ keys, isMore, workspaceId, canChange }: KeyListProps) {
  const live = keys.filter(({ revokedAt }) => revokedAt === null);
  const revoked = keys.filter(({ revokedAt }) => revokedAt !== null);
  return (
    <>
      {live.length > 0 && (
        <div className="table-frame">
          <table className="table">
            <caption className="sr-only">Active keys</caption>
            <thead>
              <tr>
                <th scope="col">Name</th>
                <th scope="col">Key</th>
                <th scope="col">Last used</th>
                <th scope="col">Default approver</th>
                <th scope="col">Owner</th>
                <th scope="col">Created</th>
                {canChange && (
                  <th scope="col">
                    <span className="sr-only">Change or revoke</span>
                  </th>
                )}
              </tr>
            </thead>
            <tbody>
              {live.map((key) => (
                <tr key={key.id}>
                  <KeyCells apiKey={key} />
                  <td data-label="Default approver">
                    {key.defaultApprover === null ? (
                      <span className="quiet">As in the settings</span>
                    ) : (
                      <Visible text={key.defaultApprover} />
                    )}
                  </td>
                  <td data-label="Owner">
                    {key.owner === null ? (
                      <span className="quiet">Nobody</span>
                    ) : (
                      <Visible text={key.owner} />
                    )}
                  </td>
                  <td data-label="Created">
                    <When at={key.createdAt} isRelative />
                  </td>
                  {canChange && (
                    <td className="cell-actions">
                      <ChangeKeyDialog apiKey={key} workspaceId={workspaceId} />
                      <RevokeKey apiKey={key} workspaceId={workspaceId} />
                    </td>
                  )}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {revoked.length > 0 && <RevokedKeys keys={revoked} isMore={isMore} />}
    </>
  );
}

function RevokedKeys({ keys, isMore }: Pick<KeyListProps, "keys" | "isMore">) {
  const count = keys.length === 1 ? "1 revoked key" : `${keys.length} revoked keys`;
  return (
    <details className="folded">
      <summary>{isMore ? `The last ${count}. Earlier ones are in the activity.` : count}</summary>
      <div className="table-frame">
        <table className="table table-quiet">
          <caption className="sr-only">Revoked keys</caption>
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">Key</th>
              <th scope="col">Last used</th>
              <th scope="col">Revoked</th>
            </tr>
          </thead>
          <tbody>
            {keys.map((key) => (
              <tr key={key.id}>
                <KeyCells apiKey={key} />
                <td data-label="Revoked">
                  {key.revokedAt !== null && <When at={key.revokedAt} isRelative />}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}

function KeyCells({ apiKey: { name, lastFour, lastUsedAt, connection } }: { apiKey: ApiKey }) {
  return (
    <>
      <td className="cell-main">
        <Visible text={name} />
      </td>
      {connection === undefined ? (
        <td className="mono cell-word" data-label="Key">
          <span>
            <span className="sr-only">ends in </span>
            <span aria-hidden="true">…</span>
            {lastFour}
          </span>
        </td>
      ) : (
        <td data-label="Key">
          <span>
            Connected app, by <Visible text={connection.email} />
            <br />
            <RedirectAddress uri={connection.redirectUri ?? connection.redirectHost} />
          </span>
        </td>
      )}
      <td data-label="Last used">
        {lastUsedAt === null ? (
          <span className="quiet">Never</span>
        ) : (
          <When at={lastUsedAt} isRelative />
        )}
      </td>
    </>
  );
}
