/** A queue with constant-time operations at both ends, at any length. */
export class FifoQueue<Item> {
  #items: Item[] = [];
  #first = 0;

  get size(): number {
    return this.#items.length - this.#first;
  }

  push(item: Item): void {
    this.#items.push(item);
  }

  shift(): Item | undefined {
    if (this.size === 0) return undefined;
    const item = this.#items[this.#first++];
    if (this.#first > 1_000 && this.#first * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#first);
      this.#first = 0;
    }
    return item;
  }
}
