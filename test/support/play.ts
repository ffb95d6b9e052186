import { ALL_FORMATS, BufferSource, EncodedPacketSink, Input } from 'mediabunny'

/** What a player makes of a file: how long it is by what it says itself, its tracks, and whether every track can be entered in its middle. */
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
