// Keeps as much work under way as there is and may be: claims when it is woken, and again when something has
// ended, because an end makes room. A claim takes no more than can start at once, so no lease runs down waiting.

/** What a claim is made for. */
export type Room<Job> = {
  limit: number;
  /** The jobs that have not ended yet. */
  underWay: readonly Job[];
  /** Something became due or ended since the claim before, which may have asked to be continued. */
  isNews: boolean;
};

export type PumpOptions<Job> = {
  inFlightMax: number;
  /** `isMore` asks for another claim right after this one. */
  claim: (room: Room<Job>) => Promise<{ jobs: Job[]; isMore: boolean }>;
  /** Must record its result. A fault that it throws is reported, and the job is left to its lease. */
  carryOut: (job: Job) => Promise<void>;
  /** Records that the job was not carried out to its end, so that another worker can take it at once. */
  giveBack: (job: Job) => Promise<void>;
  onFault: (error: unknown) => void;
};

const pauseAfterFaultMs = 1_000;
/** While much is under way, one claim fills the room that many ends make: it costs about as much as a claim for one. */
const gatherEndsMs = 5;

export class Pump<Job> {
  readonly #options: PumpOptions<Job>;
  readonly #inFlight = new Map<Job, Promise<void>>();
  #isWoken = false;
  #isNews = false;
  #claiming: Promise<void> | null = null;
  #retryTimer: NodeJS.Timeout | null = null;
  #endsTimer: NodeJS.Timeout | null = null;
  #isStopped = false;

  constructor(options: PumpOptions<Job>) {
    this.#options = options;
  }

  wake(): void {
    this.#isWoken = true;
    this.#isNews = true;
    if (this.#claiming !== null || this.#retryTimer !== null || this.#isStopped) return;
    this.#claiming = this.#claimWhileWoken().finally(() => {
      this.#claiming = null;
      // Woken between the last look and now.
      if (this.#isWoken && this.#room() > 0) this.wake();
    });
  }

  /** Starts nothing more, waits for jobs under way, and gives back those still under way after the grace. */
  async stop(graceMs: number): Promise<void> {
    this.#isStopped = true;
    if (this.#retryTimer !== null) clearTimeout(this.#retryTimer);
    if (this.#endsTimer !== null) clearTimeout(this.#endsTimer);
    let timer: NodeJS.Timeout | undefined;
    const grace = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, graceMs);
    });
    await Promise.race([this.#allEnded(), grace]);
    clearTimeout(timer);
    await this.#giveBack([...this.#inFlight.keys()]);
    // A claim that ends later gives its jobs back.
    await this.#claiming;
  }

  async #allEnded(): Promise<void> {
    await this.#claiming;
    await Promise.all(this.#inFlight.values());
  }

  /** A job that can't be given back is left to its lease. */
  async #giveBack(jobs: Job[]): Promise<void> {
    const { giveBack, onFault } = this.#options;
    await Promise.all(jobs.map((job) => giveBack(job).catch(onFault)));
  }

  #room(): number {
    return this.#options.inFlightMax - this.#inFlight.size;
  }

  async #claimWhileWoken(): Promise<void> {
    const { claim, onFault } = this.#options;
    while (this.#isWoken && this.#room() > 0 && !this.#isStopped) {
      const room = this.#room();
      const isNews = this.#isNews;
      this.#isWoken = false;
      this.#isNews = false;
      try {
        const underWay = [...this.#inFlight.keys()];
        const { jobs, isMore } = await claim({ limit: room, underWay, isNews });
        if (this.#isStopped) {
          await this.#giveBack(jobs);
          return;
        }
        for (const job of jobs) this.#start(job);
        if (isMore || jobs.length === room) this.#isWoken = true;
      } catch (error) {
        onFault(error);
        this.#tryLater();
        return;
      }
    }
  }

  #start(job: Job): void {
    const { carryOut, onFault } = this.#options;
    const done = carryOut(job)
      .catch(onFault)
      .finally(() => {
        this.#inFlight.delete(job);
        this.#ended();
      });
    this.#inFlight.set(job, done);
  }

  #ended(): void {
    if (this.#inFlight.size === 0) {
      this.wake();
      return;
    }
    this.#endsTimer ??= setTimeout(() => {
      this.#endsTimer = null;
      this.wake();
    }, gatherEndsMs);
  }

  #tryLater(): void {
    if (this.#isStopped) return;
    this.#retryTimer = setTimeout(() => {
      this.#retryTimer = null;
      this.wake();
    }, pauseAfterFaultMs);
    this.#isWoken = false;
  }
}
