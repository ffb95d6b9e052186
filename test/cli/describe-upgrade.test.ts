import { expect, it } from 'vitest'
import { formatUpgrade } from '../../src/cli/describe-upgrade.ts'

const released = {
  '1.0.0': { '00000000000000_baseline': 'a' },
  '1.1.0': { '20270101000000_one': 'b' },
  '1.2.0': { '20270201000000_two': 'c', '20270202000000_three': 'd' },
}
const changelog = `# Changelog

## [1.2.0] - 2027-02-01

### Before upgrading

- Set \`NEW_SETTING\`,
  or nobody can sign in.

### Added

- Something.

## [1.1.0] - 2027-01-01

### Before upgrading

- Copy the systemd unit again.
`

it('names the release that an upgrade starts from, the skipped ones, and what to do before each', () => {
  expect(formatUpgrade(['20270101000000_one', '20270201000000_two', '20270202000000_three'], released, changelog)).toBe(
    'This upgrades from 1.0.0 to 1.2.0, skipping 1.1.0. Before upgrading: 1.1.0: Copy the systemd unit again. 1.2.0: Set `NEW_SETTING`, or nobody can sign in.',
  )
})

it('counts a partly migrated release as missing', () => {
  expect(formatUpgrade(['20270202000000_three'], released, '')).toBe('This upgrades from 1.1.0 to 1.2.0')
})

it('says nothing about an empty database, or about migrations that are not released', () => {
  expect(formatUpgrade(['00000000000000_baseline', '20270101000000_one'], released, changelog)).toBe('')
  expect(formatUpgrade(['20270301000000_draft'], released, changelog)).toBe('')
})
