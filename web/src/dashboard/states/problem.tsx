// An error in the service's own sentence, with a button to try again.

import { Visible } from "../../look/visible-text.tsx";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { ApiError } from "../service/api.ts";
import { retryFailed } from "../service/queries.ts";

type ProblemProps = { error: unknown; onRetry?: () => void };

const unforeseen = "Something went wrong on this page. Load it again; nothing you saved is lost.";

export function Problem({ error, onRetry }: ProblemProps) {
  if (error === null || error === undefined) return null;
  return (
    <div className="problem" role="alert">
      <Icon name="alert" />
      <p>
        {/* It may repeat what somebody typed. */}
        <Visible text={error instanceof ApiError ? error.message : unforeseen} />
      </p>
      {onRetry !== undefined && (
        <Button
          isSmall
          onClick={() => {
            onRetry();
            retryFailed();
          }}
        >
          Try again
        </Button>
      )}
    </div>
  );
}
