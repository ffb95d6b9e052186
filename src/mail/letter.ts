import type { BrandColors } from '../html/brand.ts'
import type { MailCatalog, MailTexts } from '../locales/languages.ts'
import type { MessageArgs } from '../locales/texts.ts'

// A letter is one tree, printed as HTML and as text, so that both parts say the same.

/** Part of a line: translated text, user-written text (`isolated`), or formatting. */
export type Piece =
  | string
  | { isolated: string }
  | { strong: readonly Piece[] }
  | { emphasis: readonly Piece[] }
  | { link: string; content: readonly Piece[] }
  | { newLine: true }

export type Block =
  | { kind: 'paragraph'; content: readonly Piece[] }
  | { kind: 'note'; content: readonly Piece[] }
  /** Set apart from the rest: the link has changed. */
  | { kind: 'notice'; content: readonly Piece[] }
  | { kind: 'list'; items: readonly (readonly Block[])[] /** First number, if numbered. */; from?: number }
  /** Written by a person; line breaks are kept. */
  | { kind: 'quote'; text: string }
  /** Footer below a line; line breaks are kept. */
  | { kind: 'closing'; text: string }
  | { kind: 'button'; url: string; label: string }
  /** URL of the button. The text part omits it, because it prints the URL at the button. */
  | { kind: 'address'; intro: string; url: string }

/** @property logo displayed size in pixels. */
export type MailBrand = BrandColors & { logo: { url: string; width: number; height: number; organization: string } | null }

export type Letter = { subject: string; blocks: readonly Block[] }

/** Translates a text. Its parameters are user-written text. */
export const translate = <Key extends keyof MailCatalog & string>(
  t: MailTexts,
  key: Key,
  ...args: MessageArgs<MailCatalog, Key>
): readonly Piece[] => t.pieces<Key, Piece>(key, PIECES, ...args)

const PIECES = { text: (text: string): Piece => ({ isolated: text }), strong: (strong: Piece[]): Piece => ({ strong }) }

export const paragraph = (...content: Piece[]): Block => ({ kind: 'paragraph', content })
export const note = (...content: Piece[]): Block => ({ kind: 'note', content })
export const list = (...items: (readonly Piece[])[]): Block => ({
  kind: 'list',
  items: items.map((content) => [paragraph(...content)]),
})

export const greeting = (t: MailTexts, name: string | null): Block =>
  paragraph(...(name ? translate(t, 'greeting.named', { name }) : translate(t, 'greeting')))

/** A button, and its URL for readers who can't use the button. */
export const linkWithButton = (t: MailTexts, url: string, label: string): [button: Block, address: Block] => [
  { kind: 'button', url, label },
  { kind: 'address', intro: t.text('frame.address'), url },
]
