import { execFileSync, spawnSync } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { onTestFinished } from 'vitest'

/** True if this process can mount a file system, which takes root outside of a container. */
export const canMount = (): boolean =>
  process.getuid?.() === 0 && spawnSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']).status === 0

/** Mounts a disk of this size until the test ends. */
export async function mount(folder: string, bytes: number): Promise<void> {
  await mkdir(folder, { recursive: true })
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', folder])
  onTestFinished(() => void execFileSync('umount', ['--lazy', folder]))
}

export const resize = (folder: string, bytes: number): Buffer => execFileSync('mount', ['-o', `remount,size=${bytes}`, folder])
