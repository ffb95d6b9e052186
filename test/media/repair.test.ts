import { BufferSource, EncodedPacketSink, Input, MP4, WEBM } from 'mediabunny'
import { describe, expect, it } from 'vitest'
import { findLongestIncreasing } from '../../src/media/repair/longest-increasing.ts'
import { repairSource } from '../../src/media/repair/repair-segment.ts'
import type { Repaired, Source } from '../../src/media/repair/source.ts'
import { scaled } from '../support/scale.ts'
import { createRandom, damage, split } from './damage.ts'
import { RECORDINGS, type Recording, readSlices } from './recordings.ts'

const sourceOf = (content: Buffer): Source => ({
  size: content.length,
  bytes: (position, length) => content.subarray(position, position + length),
})
const contentOf = (content: Buffer, { pieces }: Repaired): Buffer =>
  Buffer.concat(pieces.map((piece) => (Buffer.isBuffer(piece) ? piece : content.subarray(piece.from, piece.to))))
const read = async (name: Recording) => Buffer.concat(await readSlices(name))

/** Splits a recording into pieces. `media` has the indexes of its clusters, or of its `moof` boxes, whose data follows in the next box. */
async function readPieces(name: Recording) {
  const pieces = split(await read(name))
  const begins = (piece: Buffer) => piece.toString('latin1', 4, 8) === 'moof' || piece.readUInt32BE(0) === 0x1f43b675
  return { pieces, media: pieces.flatMap((piece, place) => (begins(piece) ? [place] : [])) }
}

/** Lists the packets with track type, time, and size, as the media library reads them. */
async function listPackets(content: Buffer): Promise<string[]> {
  using input = new Input({ formats: [WEBM, MP4], source: new BufferSource(content) })
  const packets: string[] = []
  for (const track of await input.getTracks())
    for await (const { timestamp, byteLength } of new EncodedPacketSink(track).packets())
      packets.push(`${track.type} ${timestamp.toFixed(3)} ${byteLength}`)
  return packets
}

/** Repairs a changed recording. @returns its remaining packets, and the seconds with losses. */
async function repairChanged(pieces: Buffer[]) {
  const content = Buffer.concat(pieces)
  const repaired = repairSource(sourceOf(content))
  if (!repaired) throw new Error('Found nothing to repair')
  const result = contentOf(content, repaired)
  expect(result.length).toBeLessThanOrEqual(content.length)
  expect(repairSource(sourceOf(result))).toBeNull()
  return { lost: repaired.lost, packets: await listPackets(result) }
}

const isOfWebKit = (name: string) => name.startsWith('webkit')
const CLUSTERED = ['video-0', 'firefox-video', 'firefox-audio'] as const
const FRAGMENTED = ['webkit-stopped-1'] as const

describe('the repair of a recording', () => {
  it.each(RECORDINGS.filter((name) => !isOfWebKit(name)))('leaves an intact one unchanged: %s', async (name) => {
    expect(repairSource(sourceOf(await read(name)))).toBeNull()
  })

  it.each(RECORDINGS.filter(isOfWebKit))('drops duplicate packets, after which nothing is missing: %s', async (name) => {
    const { lost, packets } = await repairChanged([await read(name)])
    expect(lost).toEqual([])
    expect(packets.length).toBeGreaterThan(200)
    expect(new Set(packets).size).toBe(packets.length)
  })

  it.each(CLUSTERED)('drops a repeated cluster, immediate or later: %s', async (name) => {
    const { pieces, media } = await readPieces(name)
    const expected = await listPackets(Buffer.concat(pieces))
    for (const place of [media[1]!, media[2]!, pieces.length]) {
      const again = pieces.toSpliced(place, 0, pieces[media[1]!]!)
      expect(await repairChanged(again)).toEqual({ lost: [], packets: expected })
    }
  })

  it.each(FRAGMENTED)('drops a repeated fragment, with or without its data: %s', async (name) => {
    const { pieces, media } = await readPieces(name)
    const { packets } = await repairChanged(pieces)
    const [first, second] = [media[3]!, media[4]!]
    for (const again of [
      pieces.toSpliced(first, 0, pieces[first]!),
      pieces.toSpliced(second, 0, ...pieces.slice(first, second)),
      [...pieces, ...pieces.slice(first, second)],
    ])
      expect(await repairChanged(again)).toEqual({ lost: [], packets })
  })

  it.each([...CLUSTERED, ...FRAGMENTED])(
    'drops packets that go back in time, and reports the times of losses: %s',
    async (name) => {
      const { pieces, media } = await readPieces(name)
      const [second, third] = [media[1]!, media[2]!]
      const swapped = [
        ...pieces.slice(0, second),
        ...pieces.slice(third, media[3] ?? pieces.length),
        ...pieces.slice(second, third),
        ...pieces.slice(media[3] ?? pieces.length),
      ]
      const { lost, packets } = await repairChanged(swapped)
      expect(lost.length).toBeGreaterThan(0)
      expect(Math.min(...lost)).toBeGreaterThan(0.5)
      const whole = await listPackets(Buffer.concat(pieces))
      expect(packets.length).toBeGreaterThan(whole.length / 3)
      expect(packets.filter((packet) => !whole.includes(packet))).toEqual([])
    },
  )

  it.each([...CLUSTERED, ...FRAGMENTED])('ends a truncated one at its last complete packet: %s', async (name) => {
    const { pieces } = await readPieces(name)
    const content = Buffer.concat(pieces)
    const whole = await listPackets(content)
    const { lost, packets } = await repairChanged([content.subarray(0, content.length - 300)])
    expect(lost).toEqual([Infinity])
    expect(packets.length).toBeGreaterThan(whole.length / 2)
    expect(packets.filter((packet) => !whole.includes(packet))).toEqual([])
  })

  it.each(['webkit-stopped-1', 'firefox-audio'] as const)("continues after bytes that aren't part of it: %s", async (name) => {
    const { pieces, media } = await readPieces(name)
    const { packets } = isOfWebKit(name) ? await repairChanged(pieces) : { packets: await listPackets(Buffer.concat(pieces)) }
    const result = await repairChanged(pieces.toSpliced(media[1]!, 0, Buffer.alloc(1_000, 'rubbish ')))
    expect(result.lost).toHaveLength(1)
    expect(result.packets).toEqual(packets)
  })

  it('finds the longest increasing sequence', () => {
    const kept = (times: number[], isStrict = true) => times.filter((_, place) => findLongestIncreasing(times, isStrict)[place])
    expect(kept([1, 2, 99, 3, 4, 5])).toEqual([1, 2, 3, 4, 5])
    expect(kept([1, 2, 3, 0, 4])).toEqual([1, 2, 3, 4])
    expect(kept([1, 1, 2])).toEqual([1, 2])
    expect(kept([1, 1, 2], false)).toEqual([1, 1, 2])
    expect(kept([])).toEqual([])
  })

  it('stops at half a million of the smallest boxes or blocks', async () => {
    const box = Buffer.from('0000000866726565', 'hex')
    const moov = split(await read('mp4'))
    const boxes = Buffer.concat([...moov.slice(0, 2), ...Array.from({ length: 500_000 }, () => box)])
    expect(() => repairSource(sourceOf(boxes))).toThrow('more boxes')
    const clusters = split(await read('audio'))
    const block = Buffer.from('a38481000000', 'hex')
    const blocks = Buffer.concat([...clusters, ...Array.from({ length: 500_000 }, () => block)])
    expect(() => repairSource(sourceOf(blocks))).toThrow('more blocks')
  })

  it('returns a result that is no longer than its input, and needs no second repair', async () => {
    for (let seed = 0; seed < scaled(300, 10_000); seed++) {
      const random = createRandom(seed)
      const name = RECORDINGS[Math.floor(random() * RECORDINGS.length)]!
      const { content, done } = damage(await read(name), random, 1 + Math.floor(random() * 3))
      const repaired = repairSource(sourceOf(content))
      if (!repaired) continue
      const result = contentOf(content, repaired)
      const what = `${name} of seed ${seed}: ${done}`
      expect(result.length, what).toBeLessThanOrEqual(content.length + 5)
      expect(repairSource(sourceOf(result))?.lost ?? [], what).toEqual([])
    }
  })
})
