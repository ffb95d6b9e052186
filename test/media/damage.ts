import { containerOf } from '../../src/domain/files/type-of-content.ts'

// Damages recordings like faulty browsers, encoders, and networks. Random numbers come from a seed, so each damage can be reproduced.

/** Creates a generator of numbers from 0 to 1, which are the same for the same seed. */
export function createRandom(seed: number): () => number {
  let state = seed * 0x9e3779b1 + 1
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

type Damage = (pieces: Buffer[], at: number, random: () => number) => Buffer[]

const copy = (bytes: Buffer): Buffer => Buffer.from(bytes)
const insert = (pieces: Buffer[], at: number, ...more: Buffer[]) => [...pieces.slice(0, at), ...more, ...pieces.slice(at)]

/** Damages MP4 boxes, or WebM headers and clusters. */
export const DAMAGES: Record<string, Damage> = {
  repeats: (pieces, at) => insert(pieces, at, copy(pieces[at]!)),
  'repeats two': (pieces, at) => insert(pieces, at, ...pieces.slice(at, at + 2)),
  'repeats later': (pieces, at, random) => insert(pieces, at + Math.ceil(random() * (pieces.length - at)), pieces[at]!),
  swaps: (pieces, at) => pieces.with(at, pieces[at - 1] ?? pieces[at]!).with(Math.max(0, at - 1), pieces[at]!),
  'swaps two': (pieces, at) => [
    ...pieces.slice(0, at),
    ...pieces.slice(at + 2, at + 4),
    ...pieces.slice(at, at + 2),
    ...pieces.slice(at + 4),
  ],
  'leaves out': (pieces, at) => pieces.toSpliced(at, 1),
  'cuts off': (pieces, at, random) => [...pieces.slice(0, at), pieces[at]!.subarray(0, Math.ceil(random() * pieces[at]!.length))],
  'cuts out': (pieces, at, random) => pieces.with(at, pieces[at]!.subarray(Math.ceil(random() * pieces[at]!.length))),
  shortens: (pieces, at, random) => pieces.with(at, pieces[at]!.subarray(0, Math.floor(random() * pieces[at]!.length))),
  garbles: (pieces, at, random) => {
    const garbled = copy(pieces[at]!)
    for (let times = 0; times < 4; times++) garbled[Math.floor(random() * garbled.length)] = Math.floor(random() * 256)
    return pieces.with(at, garbled)
  },
  'inserts rubbish': (pieces, at, random) =>
    insert(pieces, at, Buffer.from(Array.from({ length: random() * 99 }, () => random() * 256))),
  'goes back': (pieces, at) => pieces.with(at, setTime(pieces[at]!, 0)),
  'goes ahead': (pieces, at, random) => pieces.with(at, setTime(pieces[at]!, Math.floor(random() * 2 ** 31))),
}

/** Applies several random damages. @returns the damaged content, and the names of the damages. */
export function damage(recording: Buffer, random: () => number, times: number): { content: Buffer; done: string[] } {
  const names = Object.keys(DAMAGES)
  const done = Array.from({ length: times }, () => names[Math.floor(random() * names.length)]!)
  let content = recording
  for (const name of done) {
    const pieces = split(content)
    content = Buffer.concat(DAMAGES[name]!(pieces, Math.floor(random() * pieces.length), random))
  }
  return { content, done }
}

/** Splits an MP4 into boxes, or a WebM into headers and clusters. Content after the last valid box is one piece. */
export function split(recording: Buffer): Buffer[] {
  const starts = containerOf(recording) === 'video/mp4' ? findBoxes(recording) : findClusters(recording)
  return starts.map((start, i) => recording.subarray(start, starts[i + 1] ?? recording.length))
}

function findBoxes(recording: Buffer): number[] {
  const starts: number[] = []
  for (let at = 0; at < recording.length; ) {
    starts.push(at)
    const size = at + 8 <= recording.length ? recording.readUInt32BE(at) : 0
    at = size < 8 ? recording.length : at + size
  }
  return starts
}

const CLUSTER = Buffer.from('1f43b675', 'hex')
const INFO = Buffer.from('1549a966', 'hex')
const TRACKS = Buffer.from('1654ae6b', 'hex')

function findClusters(recording: Buffer): number[] {
  const starts = [0, recording.indexOf(INFO), recording.indexOf(TRACKS)].filter((start) => start !== -1)
  for (let at = recording.indexOf(CLUSTER); at !== -1; at = recording.indexOf(CLUSTER, at + 1)) starts.push(at)
  return [...new Set(starts)].sort((a, b) => a - b)
}

/** Sets the start time of a fragment or cluster, truncated to the size of its field. */
function setTime(piece: Buffer, time: number): Buffer {
  const changed = copy(piece)
  const box = changed.indexOf('tfdt')
  if (box !== -1) changed.writeUInt32BE(time, changed[box + 4] === 1 ? box + 12 : box + 8)
  const element = changed.subarray(0, CLUSTER.length).equals(CLUSTER) ? changed.indexOf(0xe7, CLUSTER.length) : -1
  if (element === -1) return changed
  const bytes = changed[element + 1]! & 0x7f
  changed.writeUIntBE(time % 2 ** (8 * bytes), element + 2, bytes)
  return changed
}
