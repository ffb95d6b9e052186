import { readFileSync } from 'node:fs'
import path from 'node:path'

// List of common passwords, written by src/bundle-passwords.ts. Half a megabyte, searched without decoding it to a string.

const FILE = path.join(import.meta.dirname, '../../generated/common-passwords.txt')
const NEW_LINE = 0x0a

type List = { content: Buffer; starts: Uint32Array }
let list: List | undefined

/** Read when it is first asked for: few processes ever are. */
function readList(): List {
  const content = readFileSync(FILE)
  const starts = [0]
  for (let at = content.indexOf(NEW_LINE); at >= 0; at = content.indexOf(NEW_LINE, at + 1)) starts.push(at + 1)
  return { content, starts: Uint32Array.from([...starts, content.length + 1]) }
}

/** @param text in lower case. */
export function isCommonPassword(text: string): boolean {
  list ??= readList()
  const { content, starts } = list
  const wanted = Buffer.from(text)
  let [low, high] = [0, starts.length - 2]
  while (low <= high) {
    const middle = (low + high) >> 1
    const order = content.compare(wanted, 0, wanted.length, starts[middle]!, starts[middle + 1]! - 1)
    if (order === 0) return true
    if (order < 0) low = middle + 1
    else high = middle - 1
  }
  return false
}
