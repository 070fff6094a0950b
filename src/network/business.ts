/** When a business is open. */
export interface BusinessHours {
  timezone: string | null;
  days: {
    /** The first three letters of its English name. */
    day: string;
    /** `specific_hours`, `open_24h` or `appointment_only`. */
    mode: string;
    /** `HH:MM`. */
    opens: string | null;
    closes: string | null;
  }[];
}

export interface Product {
  id: string;
  name: string;
  description: string | null;
  /** In units of the currency; null: not shown. */
  price: number | null;
  currency: string | null;
  url: string | null;
  image_url: string | null;
  /** The number that the business itself has given to it. */
  retailer_id: string | null;
  is_hidden: boolean;
}

export interface CatalogPage {
  products: Product[];
  next_cursor: string | null;
}
