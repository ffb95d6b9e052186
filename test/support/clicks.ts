const RATE = 16_000
const CLICK_SAMPLES = 160
const CLICK_HZ = 2_000

/** Creates a mono WAV file with a click of 10 ms at each of these seconds. @param length seconds. */
export function makeClicks(length: number, clicks: readonly number[]): Buffer {
  const samples = Buffer.alloc(length * RATE * 2)
  for (const second of clicks)
    for (let i = 0; i < CLICK_SAMPLES; i++) {
      const at = Math.round(second * RATE) + i
      samples.writeInt16LE(Math.round(Math.sin((2 * Math.PI * CLICK_HZ * i) / RATE) * 0x6000), at * 2)
    }
  const header = Buffer.alloc(44)
  header.write('RIFF', 0)
  header.writeUInt32LE(36 + samples.length, 4)
  header.write('WAVEfmt ', 8)
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(1, 20) // PCM
  header.writeUInt16LE(1, 22) // mono
  header.writeUInt32LE(RATE, 24)
  header.writeUInt32LE(RATE * 2, 28)
  header.writeUInt16LE(2, 32)
  header.writeUInt16LE(16, 34)
  header.write('data', 36)
  header.writeUInt32LE(samples.length, 40)
  return Buffer.concat([header, samples])
}
