// The receipt of a decision: what it says of itself, and how to take it along.

import { CopyButton } from "../../../look/copy-button.tsx";
import { Fact } from "../../../look/fact.tsx";
import { Visible } from "../../../look/visible-text.tsx";
import { Button } from "../../parts/button.tsx";
import { When } from "../../parts/when.tsx";
import { levelWords, readReceipt } from "./readable-proof.ts";
import { ShortCode } from "./short-code.tsx";

type ReceiptPartProps = { receipt: string; requestId: string };

export function ReceiptPart({ receipt, requestId }: ReceiptPartProps) {
  const said = readReceipt(receipt);
  return (
    <div className="proof-part">
      <div className="proof-head">
        <h3>Receipt</h3>
        <div className="in-line">
          <CopyButton isWide label="Copy the receipt" text={() => receipt} />
          <Button onClick={() => download(receipt, `${requestId}.jwt`)}>Download</Button>
        </div>
      </div>
      {said === null ? (
        <p>This receipt can’t be read.</p>
      ) : (
        <dl className="facts">
          <Fact name="Level">
            <Visible text={levelWords(said.level)} />
          </Fact>
          <Fact name="Valid until">
            <When at={said.validUntil} />
          </Fact>
          <Fact name="Signing key">
            <ShortCode code={said.kid} label="Copy the key’s name" />
          </Fact>
        </dl>
      )}
    </div>
  );
}

function download(text: string, name: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: "application/jwt" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}
