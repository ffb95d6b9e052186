/** A question of a kind, for whoever tries it: with what answers it fully, and what does not. */
export type Example = { responseType: string; script: string; spec: unknown; key: unknown; right: unknown; wrong: unknown }
