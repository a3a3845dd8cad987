// What the ledger must do, in plain numbers and lists, written only from the clauses (WA-01 to WA-12, LI-02, CC-10, CC-14, CP-08).

export interface ModelRequest {
  readonly call: string;
  readonly user: string;
  readonly least: number;
  readonly most: number;
  readonly streamsMax: number;
  /** The monthly budget of its key. Undefined if the key has none. */
  readonly budget: { readonly key: string; readonly limit: number } | undefined;
  /** What a repeat of it has too. Undefined if nothing can be a repeat of it. */
  readonly attempt: string | undefined;
}

interface ModelHold {
  readonly call: string;
  readonly user: string;
  readonly amount: number;
  isStream: boolean;
  /** It is set once the caller has left, so that a new stream may end it. A smaller number is an earlier drain. */
  drainedAs: number | undefined;
  readonly attempt: string | undefined;
  /** A repeat has asked for its answer. */
  isJoined: boolean;
  instance: bigint;
  isOfThisMonth: boolean;
  /** The key whose budget it counts for. */
  readonly key: string | undefined;
}

interface ModelReceipt {
  readonly call: string;
  readonly user: string;
  readonly charged: number;
  isOfThisMonth: boolean;
  readonly key: string | undefined;
}

interface ModelWallet {
  balance: number;
  shortfall: number;
  cap: number | undefined;
  isConnected: boolean;
  isSuspended: boolean;
  /** What each key first stood for, per kind of act. */
  readonly booked: Map<string, number>;
}

interface ModelAct {
  readonly kind: string;
  readonly amount: number;
  readonly key: string;
}

export interface ModelFigures {
  readonly balance: number;
  readonly held: number;
  readonly openStreams: number;
  readonly spent: number;
  readonly shortfall: number;
  readonly isSuspended: boolean;
}

export class LedgerModel {
  readonly #wallets = new Map<string, ModelWallet>();
  readonly #dead = new Set<bigint>();
  #drains = 0;
  #holds: readonly ModelHold[] = [];
  #receipts: readonly ModelReceipt[] = [];

  open(user: string, cap: number | undefined): void {
    const booked = new Map<string, number>();
    this.#wallets.set(user, { balance: 0, shortfall: 0, cap, isConnected: true, isSuspended: false, booked });
  }

  /**
   * Returns undefined if the process is fenced and nothing is held (WA-10). A budget is of many wallets, so the order
   * counts: wallet by wallet, those that are not connected last.
   */
  reserve(instance: bigint, requests: readonly ModelRequest[]): readonly (string | number)[] | undefined {
    if (this.#dead.has(instance)) return undefined;
    const wallets = [...this.#wallets.keys()];
    const rank = ({ user }: ModelRequest) =>
      this.#wallets.get(user)?.isConnected ? wallets.indexOf(user) : wallets.length;
    const judged = requests.toSorted((left, right) => rank(left) - rank(right));
    const answers = new Map(judged.map((request) => [request, this.#reserveOne(instance, request)]));
    return requests.map((request) => answers.get(request) ?? 'not judged');
  }

  #reserveOne(instance: bigint, request: ModelRequest): string | number {
    if (this.#receipts.some(({ call }) => call === request.call)) return 'call_ended'; // WA-07: at most once.
    const repeated = this.#holds.find(({ call }) => call === request.call);
    if (repeated !== undefined) {
      repeated.instance = instance; // The process that asks last owns the call, so its hold ends with that process (WA-10).
      return repeated.amount;
    }
    if (this.#joins(request)) return 'attempt_running';
    const { call, user, least, most, streamsMax, budget, attempt } = request;
    const room = this.#roomOf(budget);
    if (budget !== undefined && this.budget(budget.key).spent + least > budget.limit) return 'budget_reached';
    if (room < least) return 'budget_race_lost'; // CP-08: before the user's money.
    const wallet = this.#wallets.get(user);
    const { held, openStreams, spent } = this.figures(user);
    const tooMany = streamsMax === 0 ? 0 : Math.max(0, openStreams - streamsMax + 1);
    const ended = this.#drainsOf(user).slice(0, tooMany); // LI-02: the oldest drains make room.
    if (wallet === undefined || !wallet.isConnected) return 'payment_required'; // CC-10: past the slots.
    if (ended.length < tooMany) return 'stream_limit';
    if (wallet.isSuspended) return 'wallet_suspended';
    const cap = wallet.cap ?? Number.POSITIVE_INFINITY;
    const heldThisMonth = sum(this.#holdsOf(user).filter((hold) => hold.isOfThisMonth));
    if (spent + least > cap) return 'cap_reached';
    if (spent + heldThisMonth + least > cap) return 'cap_race_lost';
    const available = Math.max(0, wallet.balance - held);
    if (wallet.balance < least) return 'payment_required';
    if (available < least) return 'balance_race_lost';
    const left = Math.min(available, cap - spent - heldThisMonth, room);
    // WA-13: at most three quarters of what is left, unless its least needs more.
    const amount = Math.min(most, Math.max(least, left - Math.floor(left / 4)));
    for (const drain of ended) drain.isStream = false;
    const of = { call, user, amount, instance, key: budget?.key, attempt, isStream: streamsMax > 0 };
    this.#holds = [...this.#holds, { ...of, drainedAs: undefined, isJoined: false, isOfThisMonth: true }];
    return amount;
  }

  /** CC-14: a repeat of a call that runs waits for it, also if its caller has left. Nobody does whose next call would be refused. */
  #joins({ user, attempt }: ModelRequest): boolean {
    const wallet = this.#wallets.get(user);
    if (attempt === undefined || !wallet?.isConnected || wallet.isSuspended) return false;
    const earlier = this.#holdsOf(user).find((hold) => hold.attempt === attempt);
    if (earlier !== undefined) earlier.isJoined = true;
    return earlier !== undefined;
  }

  #roomOf(budget: ModelRequest['budget']): number {
    if (budget === undefined) return Number.POSITIVE_INFINITY;
    const { spent, held } = this.budget(budget.key);
    return budget.limit - spent - held;
  }

  /** What calls with a key have cost this month, and what those that run hold of it. */
  budget(key: string): { readonly spent: number; readonly held: number } {
    const isCounted = (one: ModelHold | ModelReceipt) => one.key === key && one.isOfThisMonth;
    const receipts = this.#receipts.filter(isCounted);
    return {
      spent: receipts.reduce((total, { charged }) => total + charged, 0),
      held: sum(this.#holds.filter(isCounted)),
    };
  }

  /** The caller of a call has left, and its stream is drained. */
  drain(call: string): void {
    for (const hold of this.#holds) if (hold.call === call) hold.drainedAs ??= this.#drains += 1;
  }

  /** Those that still have a slot, and for which nobody waits again, the oldest first. */
  #drainsOf(user: string): readonly ModelHold[] {
    const streams = this.#holdsOf(user).filter(({ isStream, isJoined }) => isStream && !isJoined);
    const drains = streams.filter(({ drainedAs }) => drainedAs !== undefined);
    return drains.toSorted((left, right) => (left.drainedAs ?? 0) - (right.drainedAs ?? 0));
  }

  settle(ends: readonly { readonly call: string; readonly charge: number }[]) {
    return ends.map(({ call, charge }) => {
      const hold = this.#holds.find((one) => one.call === call);
      if (hold !== undefined) return { isSettled: true, charged: this.#end(hold, charge) };
      return { isSettled: false, charged: this.#receipts.find((one) => one.call === call)?.charged ?? 0 };
    });
  }

  /** Takes the charge, never above the hold. The part that the balance no longer covers is owed and suspends the wallet (WA-12). */
  #end(hold: ModelHold, charge: number): number {
    const { call, user, amount, isOfThisMonth, key } = hold;
    const wallet = this.#walletOf(user);
    const charged = Math.min(charge, amount);
    const taken = Math.min(charged, wallet.balance);
    wallet.balance -= taken;
    wallet.shortfall += charged - taken;
    wallet.isSuspended ||= charged > taken;
    this.#holds = this.#holds.filter((one) => one !== hold);
    this.#receipts = [...this.#receipts, { call, user, charged, isOfThisMonth, key }];
    return charged;
  }

  /** Fences a process and releases its holds without a charge (WA-10). Returns how many. */
  fence(instance: bigint): number {
    this.#dead.add(instance);
    const orphans = this.#holds.filter((hold) => hold.instance === instance);
    for (const hold of orphans) this.#end(hold, 0);
    return orphans.length;
  }

  credit(user: string, { kind, amount, key }: ModelAct): string {
    return this.#once(user, { kind, amount, key }, (wallet) => {
      wallet.balance += amount;
    });
  }

  /** Takes the balance, including what calls hold. The rest is owed and suspends the wallet (WA-05, WA-06). */
  takeBack(user: string, { kind, amount, key }: ModelAct): string {
    return this.#once(user, { kind, amount, key }, (wallet) => {
      const taken = Math.min(amount, wallet.balance);
      wallet.balance -= taken;
      wallet.shortfall += amount - taken;
      wallet.isSuspended ||= amount > taken;
    });
  }

  /** A key counts once for each wallet and kind of act. */
  #once(user: string, { kind, amount, key }: ModelAct, act: (wallet: ModelWallet) => void): string {
    const wallet = this.#wallets.get(user);
    if (wallet === undefined) return 'no_wallet';
    const booked = wallet.booked.get(`${kind} ${key}`);
    if (booked !== undefined) return booked === amount ? 'repeated' : 'conflict';
    wallet.booked.set(`${kind} ${key}`, amount);
    act(wallet);
    return 'booked';
  }

  /** Lifts a suspension once nothing is owed. The shortfall is recovered from money that no call holds, or written off (WA-06). */
  reinstate(user: string, writesOff: boolean): string {
    const wallet = this.#walletOf(user);
    const free = Math.max(0, wallet.balance - this.figures(user).held);
    if (!writesOff && wallet.shortfall > free) return 'shortfall';
    if (!writesOff) wallet.balance -= wallet.shortfall;
    wallet.shortfall = 0;
    wallet.isSuspended = false;
    return 'reinstated';
  }

  set(user: string, facts: Partial<Pick<ModelWallet, 'cap' | 'isConnected'>>): void {
    Object.assign(this.#walletOf(user), facts);
  }

  /** Begins a new month. Earlier holds and spending belong to the old one (WA-08). */
  beginMonth(user: string): void {
    for (const one of [...this.#holdsOf(user), ...this.#receiptsOf(user)]) one.isOfThisMonth = false;
  }

  figures(user: string): ModelFigures {
    const { balance = 0, shortfall = 0, isSuspended = false } = this.#wallets.get(user) ?? {};
    const holds = this.#holdsOf(user);
    const charges = this.#receiptsOf(user).filter(({ isOfThisMonth }) => isOfThisMonth);
    return {
      balance,
      held: sum(holds),
      openStreams: holds.filter(({ isStream }) => isStream).length,
      spent: charges.reduce((total, { charged }) => total + charged, 0),
      shortfall,
      isSuspended,
    };
  }

  isHeld(call: string): boolean {
    return this.#holds.some((hold) => hold.call === call);
  }

  #walletOf(user: string): ModelWallet {
    const wallet = this.#wallets.get(user);
    if (wallet === undefined) throw new Error(`The model has no wallet of ${user}.`);
    return wallet;
  }

  #holdsOf(user: string): readonly ModelHold[] {
    return this.#holds.filter((hold) => hold.user === user);
  }

  #receiptsOf(user: string): readonly ModelReceipt[] {
    return this.#receipts.filter((receipt) => receipt.user === user);
  }
}

function sum(holds: readonly ModelHold[]): number {
  return holds.reduce((total, { amount }) => total + amount, 0);
}
