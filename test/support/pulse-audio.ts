import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { waitUntil } from './wait-until.ts'

/** Debian's path. */
const PULSE_AUDIO = '/usr/bin/pulseaudio'
export const isPulseAudioInstalled = existsSync(PULSE_AUDIO) && existsSync('/usr/bin/pactl')

/** Starts a sound server whose microphone hears its loudspeaker. @returns its address for PULSE_SERVER. */
export async function startLoop(): Promise<{ server: string; stop: () => Promise<void> }> {
  const folder = await mkdtemp(path.join(tmpdir(), 'assessments-sound-'))
  const socket = path.join(folder, 'native')
  const server = `unix:${socket}`
  const modules = [
    `module-native-protocol-unix socket=${socket} auth-anonymous=1`,
    'module-null-sink sink_name=loop rate=48000',
    'module-remap-source master=loop.monitor source_name=loop_microphone',
  ]
  const loaded = modules.map((module) => `--load=${module}`)
  const daemon: ChildProcess = spawn(
    PULSE_AUDIO,
    ['-n', '--daemonize=no', '--exit-idle-time=-1', '--use-pid-file=no', ...loaded],
    { env: { ...process.env, HOME: folder, XDG_RUNTIME_DIR: folder }, stdio: 'ignore' },
  )
  const control = (...given: string[]) => promisify(execFile)('/usr/bin/pactl', ['--server', server, ...given])
  await waitUntil('the sound server', () =>
    control('set-default-source', 'loop_microphone').then(
      () => true,
      () => undefined,
    ),
  )
  await control('set-default-sink', 'loop')
  return {
    server,
    async stop() {
      daemon.kill()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
