import { ALL_FORMATS, BufferSource, EncodedPacketSink, Input } from 'mediabunny'

/** Reads a file like a player. @returns its type, duration, tracks, and whether every track can be seeked. */
export async function play(content: Buffer) {
  using input = new Input({ formats: ALL_FORMATS, source: new BufferSource(content) })
  const tracks = await input.getTracks()
  const duration = await input.getDurationFromMetadata()
  const middles = await Promise.all(tracks.map((track) => new EncodedPacketSink(track).getKeyPacket(duration! / 2)))
  return {
    mimeType: (await input.getMimeType()).split(';')[0],
    duration,
    tracks: tracks.map((track) => track.type).sort(),
    canBeSought: middles.every((packet) => packet !== null && packet.data.length > 0),
  }
}
