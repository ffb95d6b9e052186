import type { BrandColors } from '../html/brand.ts'
import type { MailCatalog, MailTexts } from '../locales/languages.ts'
import type { MessageArgs } from '../locales/texts.ts'

// What a mail says, as one tree that is printed twice, as HTML and as text: neither part can say what the other does not.

/** A piece of a line: words of the mail's language; what somebody has written or is called; words that stand out, or lead somewhere. */
export type Piece =
  | string
  | { own: string }
  | { strong: readonly Piece[] }
  | { emphasis: readonly Piece[] }
  | { link: string; within: readonly Piece[] }
  | { newLine: true }

export type Block =
  | { kind: 'paragraph'; said: readonly Piece[] }
  /** Smaller, below what matters. */
  | { kind: 'note'; said: readonly Piece[] }
  /** Set apart from the rest: a way in that has changed. */
  | { kind: 'notice'; said: readonly Piece[] }
  | { kind: 'list'; items: readonly (readonly Block[])[] /** Of the first, where they are numbered. */; from?: number }
  /** What somebody has written to who reads it. Its lines stay. */
  | { kind: 'quote'; text: string }
  /** Below all, behind a line. Its lines stay. */
  | { kind: 'closing'; text: string }
  | { kind: 'button'; url: string; label: string }
  /** The address of the button, which the text has there. */
  | { kind: 'address'; intro: string; url: string }

/** How an organization's mails look. @property logo with the sides in pixels that it is shown with. */
export type MailBrand = BrandColors & { logo: { url: string; width: number; height: number; organization: string } | null }

export type Letter = { subject: string; blocks: readonly Block[] }

/** A text of the catalog in pieces: what is put into it is somebody's own. */
export const say = <Key extends keyof MailCatalog & string>(
  t: MailTexts,
  key: Key,
  ...given: MessageArgs<MailCatalog, Key>
): readonly Piece[] => t.pieces<Key, Piece>(key, PIECES, ...given)

const PIECES = { text: (own: string): Piece => ({ own }), strong: (strong: Piece[]): Piece => ({ strong }) }

export const paragraph = (...said: Piece[]): Block => ({ kind: 'paragraph', said })
export const note = (...said: Piece[]): Block => ({ kind: 'note', said })
export const list = (...items: (readonly Piece[])[]): Block => ({
  kind: 'list',
  items: items.map((said) => [paragraph(...said)]),
})

/** What a letter begins with. */
export const greet = (t: MailTexts, name: string | null): Block =>
  paragraph(...(name ? say(t, 'greeting.named', { name }) : say(t, 'greeting')))

/** The way in: a button, and its address in full for who can not press it. */
export const wayIn = (t: MailTexts, url: string, label: string): [button: Block, address: Block] => [
  { kind: 'button', url, label },
  { kind: 'address', intro: t.text('frame.address'), url },
]
