// A page that could not be drawn. If only its code didn't arrive, it comes back with the service.

import type { ErrorComponentProps } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { isServiceThere, onServiceBack } from "../service/presence.ts";
import { Problem } from "../states/problem.tsx";
import { PageCodeError } from "./page-code.ts";

export function PageFailed({ error }: ErrorComponentProps) {
  if (error instanceof PageCodeError) return <CodeMissing />;
  return <Problem error={error} onRetry={() => location.reload()} />;
}

function CodeMissing() {
  const [isLooking, setLooking] = useState(false);
  useEffect(() => onServiceBack(() => location.reload()), []);
  const load = async () => {
    setLooking(true);
    // Loading it now would end at the browser's own error page if nobody is there.
    if (await isServiceThere()) location.reload();
    else setLooking(false);
  };
  return (
    <div className="problem" role="alert">
      <Icon name="alert" />
      <p>
        This page could not be loaded, because the service can’t be reached or was updated. It comes
        back by itself with the service.
      </p>
      <Button isSmall isBusy={isLooking} onClick={load}>
        Load again
      </Button>
    </div>
  );
}
