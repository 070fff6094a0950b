/** Files in answers are held in memory until they are stored, so only so many are read at once. */
export class FileAnswers {
  static readonly largestBytes = 5 * 1024 * 1024;
  static readonly #atOnce = 16;
  #open = 0;

  /** Lets one call read a file for as long as the work lasts; the file of a call that finds no room is cut off. */
  async use<T>(work: (mayRead: () => boolean) => Promise<T>): Promise<T> {
    let isOpen = false;
    const mayRead = () => {
      if (!isOpen && this.#open < FileAnswers.#atOnce) {
        isOpen = true;
        this.#open += 1;
      }
      return isOpen;
    };
    try {
      return await work(mayRead);
    } finally {
      if (isOpen) this.#open -= 1;
    }
  }
}
