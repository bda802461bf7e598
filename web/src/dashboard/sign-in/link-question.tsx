// Asks a signed-in person who opened a one-time link whether to use it.

import { Brand } from "../../look/brand.tsx";
import { Visible } from "../../look/visible-text.tsx";
import { Button } from "../parts/button.tsx";

type LinkQuestionProps = { email: string; onGoOn: () => void; onStay: () => void };

export function LinkQuestion({ email, onGoOn, onStay }: LinkQuestionProps) {
  return (
    <main className="sign-in">
      <Brand />
      <div className="sign-in-card">
        <header className="sign-in-head">
          <h1>You are signed in already</h1>
          <p className="quiet">
            You are signed in as{" "}
            <strong className="sign-in-address">
              <Visible text={email} />
            </strong>
            . This link may be for another account, and it ends your session in this browser.
            Continue only if you asked for it yourself.
          </p>
        </header>
        <Button variant="primary" className="sign-in-stay" onClick={onStay} autoFocus>
          Stay signed in as <Visible text={email} />
        </Button>
        <Button onClick={onGoOn}>Continue with the link</Button>
      </div>
    </main>
  );
}
