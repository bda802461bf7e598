// The types that the example uses. In a project of your own, @cloudflare/workers-types has them.

declare module "cloudflare:workers" {
  export type WorkflowEvent<Params> = {
    payload: Params;
    instanceId: string;
    timestamp: Date;
  };
  export type WorkflowStep = {
    do<Result>(name: string, work: () => Promise<Result>): Promise<Result>;
    waitForEvent(name: string, options: { type: string; timeout: "1 hour" }): Promise<unknown>;
  };
  export class WorkflowEntrypoint<Env, Params> {
    protected env: Env;
    run(event: WorkflowEvent<Params>, step: WorkflowStep): Promise<unknown>;
  }
}

type WorkflowInstance = {
  sendEvent(event: { type: string; payload: unknown }): Promise<void>;
  status(): Promise<{ status: string; output?: unknown; error?: unknown }>;
};

type Workflow<Params> = {
  create(options: { id: string; params: Params }): Promise<WorkflowInstance>;
  get(id: string): Promise<WorkflowInstance>;
};
