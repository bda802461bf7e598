// The head of a page: its one h1, and the title of the tab.

import { type ReactNode, useEffect } from "react";
import { toVisibleText } from "../../../../server/src/domain/shown/text/visible-text.ts";
import { useMembershipOrNone } from "../session/membership.ts";

type PageHeadProps = {
  title: ReactNode;
  /** The title of the tab, if `title` isn't plain text. */
  documentTitle?: string;
  subtitle?: ReactNode;
  actions?: ReactNode;
  /** The link one level up. */
  back?: ReactNode;
};

export function PageHead({ title, documentTitle, subtitle, actions, back }: PageHeadProps) {
  useDocumentTitle(documentTitle ?? (typeof title === "string" ? title : "Dashboard"));
  return (
    <header className="page-head">
      {back !== undefined && <div className="page-back">{back}</div>}
      <div className="page-head-row">
        <div className="page-head-words">
          <h1>{title}</h1>
          {subtitle !== undefined && <div className="page-subtitle">{subtitle}</div>}
        </div>
        {actions !== undefined && <div className="page-actions">{actions}</div>}
      </div>
    </header>
  );
}

export function useDocumentTitle(title: string): void {
  const name = useMembershipOrNone()?.name;
  useEffect(() => {
    const parts = [title, name, "Countersign"].filter((part) => part !== undefined);
    document.title = parts.map((part) => toVisibleText(part)).join(" · ");
  }, [title, name]);
}
