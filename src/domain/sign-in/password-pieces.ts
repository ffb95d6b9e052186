import { isCommonPassword } from './common-passwords.ts'

/** Points that a password needs at least, when it is put together in the cheapest way. */
const MIN_POINTS = 7
/** Characters of the shortest piece that is worth naming, and of the longest word that is looked up. */
const SHORTEST = 3
const LONGEST_WORD = 32

/** Neighbors on keyboards, in the alphabet, and among digits. Read in both directions. */
const RUNS = [
  'qwertyuiop',
  'qwertzuiop',
  'azertyuiop',
  'asdfghjkl',
  'qsdfghjklm',
  'zxcvbnm',
  'yxcvbnm',
  '1qaz2wsx3edc4rfv5tgb6yhn7ujm',
  '12345678901234567890',
  'abcdefghijklmnopqrstuvwxyz',
  '!@#$%^&*()',
]
  .flatMap((run) => [run, [...run].reverse().join('')])
  .join('\n')

/** Substitutes for letters. `1` may be two of them. */
const LEET: Record<string, string> = {
  '4': 'a',
  '@': 'a',
  '8': 'b',
  '(': 'c',
  '3': 'e',
  '6': 'g',
  '0': 'o',
  '5': 's',
  $: 's',
  '7': 't',
  '+': 't',
  '2': 'z',
}
const undoLeet = (text: string, letterForOne: string): string =>
  text.replace(/[^a-z]/g, (sign) => LEET[sign] ?? (/[1!|]/.test(sign) ? letterForOne : sign))

type Piece = { end: number; points: number; isNamed: boolean }
type PieceCover = { points: number; named: string[] }

/**
 * Guessable parts of a weak password; null if the password is strong enough.
 *
 * @param words names of the person, their organizations, and the service, which attackers try first.
 */
export function findPasswordPieces(password: string, words: readonly string[]): string[] | null {
  const shown = password.normalize('NFKC')
  const text = shown.toLowerCase()
  // Some letters get longer in lower case, which would shift positions.
  const cut = (from: number, to: number) => (shown.length === text.length ? shown : text).slice(from, to)
  const knownWords = new Set(words.flatMap(splitWords))
  const readings = [...new Set([text, undoLeet(text, 'i'), undoLeet(text, 'l')])]
  const cheapestCovers: (PieceCover | undefined)[] = [{ points: 0, named: [] }]
  for (let at = 0; at < text.length; at++) {
    const cheapestPath = cheapestCovers[at]!
    for (const { end, points, isNamed } of piecesFrom(readings, at, knownWords)) {
      const sum = cheapestPath.points + points
      if (sum < (cheapestCovers[end]?.points ?? Number.POSITIVE_INFINITY))
        cheapestCovers[end] = { points: sum, named: isNamed ? [...cheapestPath.named, cut(at, end)] : cheapestPath.named }
    }
  }
  const { points, named } = cheapestCovers[text.length]!
  return points < MIN_POINTS ? [...new Set(named)] : null
}

const splitWords = (words: string): string[] =>
  words
    .normalize('NFKC')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word.length >= SHORTEST)

/** Pieces that begin at a position: one character, and everything cheaper than its characters. */
function piecesFrom(readings: string[], at: number, knownWords: Set<string>): Piece[] {
  const [text] = readings as [string]
  const pieces: Piece[] = [{ end: at + 1, points: 1, isNamed: false }]
  const digits = /^\d+/.exec(text.slice(at))?.[0].length ?? 0
  if (digits > 2) pieces.push({ end: at + digits, points: 2, isNamed: true })
  for (let end = at + SHORTEST; end <= Math.min(text.length, at + LONGEST_WORD); end++) {
    const points = pointsOf(readings, at, end, knownWords)
    if (points !== null) pieces.push({ end, points, isNamed: true })
  }
  return pieces
}

function pointsOf(readings: string[], at: number, end: number, knownWords: Set<string>): number | null {
  const [text] = readings as [string]
  const part = text.slice(at, end)
  if (text.lastIndexOf(part, at - part.length) >= 0 && at >= part.length) return 0
  const parts = readings.map((reading) => reading.slice(at, end))
  const isRepeat = part === part[0]!.repeat(part.length)
  if (isRepeat || RUNS.includes(part) || parts.some((word) => knownWords.has(word))) return 1
  return parts.some(isCommonPassword) ? 2 : null
}
