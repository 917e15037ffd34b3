/** For a step that says nothing else, in milliseconds. */
const LIMIT_MS = 10_000;

/** One capability, shown. */
export interface Step<Context> {
  readonly title: string;
  /** Default 10,000 ms. */
  readonly limitMs?: number;
  /** Resolves to a figure once the capability works. Rejects otherwise, or on abort. */
  run(context: Context, signal: AbortSignal): Promise<string>;
}

export interface StepResult {
  readonly title: string;
  readonly ok: boolean;
  /** The figure, or why there is none. */
  readonly figure: string;
}

/**
 * Runs the steps in order and shows each as soon as it is over. A step that fails does not stop the
 * others; when `signal` says so, what is not over is shown as not reached. `patience` lengthens the
 * limits, for a slow machine. Returns the results, one per step.
 */
export async function runSteps<Context>(
  steps: readonly Step<Context>[],
  context: Context,
  signal: AbortSignal,
  show: (result: StepResult) => void,
  patience = 1,
): Promise<StepResult[]> {
  const results: StepResult[] = [];
  for (const step of steps) {
    const result = signal.aborted
      ? missed(step.title, "not reached")
      : await runStep(step, context, signal, patience);
    results.push(result);
    show(result);
  }
  return results;
}

async function runStep<Context>(
  step: Step<Context>,
  context: Context,
  signal: AbortSignal,
  patience: number,
): Promise<StepResult> {
  const limitMs = (step.limitMs ?? LIMIT_MS) * patience;
  const limit = limitedBy(signal, limitMs, new Error(`not seen within ${limitMs / 1000} s`));
  try {
    const figure = await Promise.race([step.run(context, limit.signal), whenAborted(limit.signal)]);
    return { title: step.title, ok: true, figure };
  } catch (error) {
    const reason = signal.aborted
      ? "not done in time"
      : error instanceof Error
        ? error.message
        : String(error);
    return missed(step.title, reason);
  } finally {
    // Whatever the step left running ends with it.
    limit.end();
  }
}

function missed(title: string, figure: string): StepResult {
  return { title, ok: false, figure };
}

function whenAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const fail = (): void => reject(signal.reason instanceof Error ? signal.reason : new Error("stopped"));
    if (signal.aborted) fail();
    else signal.addEventListener("abort", fail, { once: true });
  });
}

export interface Limited {
  readonly signal: AbortSignal;
  /** Frees the timer and aborts what still runs. */
  end(): void;
}

/** Aborts with another signal or after `ms`. (Node 20 may collect AbortSignal.any too early.) */
export function limitedBy(other: AbortSignal, ms: number, reason: Error): Limited {
  const controller = new AbortController();
  const pass = (): void => controller.abort(other.reason);
  const timer = setTimeout(() => controller.abort(reason), ms);
  if (other.aborted) pass();
  else other.addEventListener("abort", pass, { once: true });
  const end = (): void => {
    clearTimeout(timer);
    other.removeEventListener("abort", pass);
    controller.abort();
  };
  return { signal: controller.signal, end };
}

/** `✓ two-way RPC handled          12 ms` */
export function formatResult({ title, ok, figure }: StepResult, width: number): string {
  return `${ok ? "✓" : "✗"} ${title.padEnd(width)}  ${figure}`;
}

/** Polls every `everyMs` until the result is neither undefined nor false. Rejects on abort. */
export async function until<T>(
  signal: AbortSignal,
  probe: () => Promise<T | undefined | false>,
  everyMs = 100,
): Promise<T> {
  for (;;) {
    const found = await probe();
    if (found !== undefined && found !== false) return found;
    signal.throwIfAborted();
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}
