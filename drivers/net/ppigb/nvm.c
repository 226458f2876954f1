/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * The EEPROM: 16-bit words, read through EERD. An I210 may lack it and an I211 always does; these
 * have their settings in one-time programmable memory (iNVM) that this driver does not read.
 *
 * Sources: 82576EB datasheet, EERD; versions: DPDK 22.11 base/e1000_nvm.c e1000_get_fw_version().
 */
#include <errno.h>
#include <stdio.h>

#include "ppigb.h"

#define NVM_CHECK_WORDS 0x40u
#define NVM_CHECK_SUM   0xBABAu
#define NVM_VERSION     0x05
#define NVM_ETRACK      0x42 /**< And the next one: the id of the image. */
#define NVM_MAX_SHIFT   15

/** Is there an EEPROM? */
static bool
nvm_present(struct ppigb *p)
{
	return !ppigb_model(p)->nvm_flash ||
	       ppigb_rd(p, PPIGB_REG(EEC_I21X)) & PPIGB_F(EEC_I21X, FLASH_DETECTED);
}

static unsigned int
nvm_words(struct ppigb *p)
{
	/* 82576EB datasheet, EEC: 0 is 1 Kbit, each step doubles it. */
	unsigned int shift = 6 + PPIGB_G(EECD, SIZE, ppigb_rd(p, PPIGB_REG(EECD)));

	return 1u << RTE_MIN(shift, (unsigned int)NVM_MAX_SHIFT);
}

/**
 * Read n words.
 * @return 0; -ENOTSUP: there is no EEPROM; -EBUSY: somebody else holds it; -EIO
 */
int
ppigb_nvm_read(struct ppigb *p, uint16_t word, uint16_t *data, unsigned int n)
{
	const uint32_t eerd = ppigb_model(p)->nvm_flash ? PPIGB_REG(EERD_I21X) : PPIGB_REG(EERD);
	int ret;

	if (!nvm_present(p))
		return -ENOTSUP;
	ret = ppigb_sync_get(p, PPIGB_F(SW_FW_SYNC, SW_EEP));
	if (ret < 0)
		return ret;
	for (unsigned int i = 0; i < n && ret == 0; i++) {
		ppigb_wr(p, eerd, PPIGB_V(EERD, ADDR, word + i) | PPIGB_F(EERD, START));
		ret = ppigb_poll(p, eerd, PPIGB_F(EERD, DONE), PPIGB_F(EERD, DONE), 1000);
		data[i] = PPIGB_G(EERD, DATA, ppigb_rd(p, eerd));
	}
	ppigb_sync_put(p, PPIGB_F(SW_FW_SYNC, SW_EEP));
	return ret < 0 ? -EIO : 0;
}

/** Of the first region; those of a chip's further ports, which some models have, are not looked at. */
int
ppigb_nvm_check(struct ppigb *p)
{
	uint16_t words[NVM_CHECK_WORDS], sum = 0, id[2];

	if (!nvm_present(p))
		return 0;
	/* Twice: reading may wake the part up, and the first answer be wrong (DPDK's igb). */
	for (int tries = 0; tries < 2 && sum != NVM_CHECK_SUM; tries++) {
		int ret = ppigb_nvm_read(p, 0, words, RTE_DIM(words));

		if (ret < 0)
			return ret;
		sum = 0;
		for (unsigned int i = 0; i < RTE_DIM(words); i++)
			sum += words[i];
	}
	if (sum != NVM_CHECK_SUM)
		return -EIO;
	/* Kept, so that any process can tell them. */
	if (ppigb_nvm_read(p, NVM_VERSION, &p->nvm_version, 1) == 0 &&
		ppigb_nvm_read(p, NVM_ETRACK, id, RTE_DIM(id)) == 0) {
		/* The valid bit tells which of the two is the high half. */
		if (id[1] & 0x8000u)
			p->etrack = (uint32_t)id[1] << 16 | id[0];
		else if (nvm_words(p) > NVM_CHECK_WORDS)
			p->etrack = (uint32_t)id[0] << 16 | id[1];
	}
	return 0;
}

int
ppigb_eeprom_length(struct rte_eth_dev *dev)
{
	struct ppigb *p = ppigb_priv(dev);

	return nvm_present(p) ? (int)(nvm_words(p) * sizeof(uint16_t)) : -ENOTSUP;
}

/** Any bytes of it, in the order in which they lie in the EEPROM. */
int
ppigb_eeprom_get(struct rte_eth_dev *dev, struct rte_dev_eeprom_info *info)
{
	struct ppigb *p = ppigb_priv(dev);
	uint8_t *to = info->data;
	uint16_t word;

	if (!nvm_present(p))
		return -ENOTSUP;
	if ((uint64_t)info->offset + info->length > nvm_words(p) * sizeof(word))
		return -EINVAL;
	info->magic = PPIGB_VENDOR | (uint32_t)p->device_id << 16;
	for (uint32_t at = info->offset; at < info->offset + info->length;) {
		int ret = ppigb_nvm_read(p, at / sizeof(word), &word, 1);

		if (ret < 0)
			return ret;
		do
			*to++ = at % 2 == 0 ? word & 0xFF : word >> 8;
		while (++at % 2 != 0 && at < info->offset + info->length);
	}
	return 0;
}

/** "major.minor, 0xetrack", or "major.minor.build" where the image has no id. */
int
ppigb_fw_version_get(struct rte_eth_dev *dev, char *fw_version, size_t fw_size)
{
	struct ppigb *p = ppigb_priv(dev);
	const unsigned int major = p->nvm_version >> 12;
	unsigned int minor = p->nvm_version >> 4 & 0xFF;
	int n;

	if (!nvm_present(p))
		return -ENOTSUP;
	if (p->etrack != 0) {
		/* Two formats of the minor number; both are digits written in hexadecimal. */
		if ((p->nvm_version & 0x0F00) == 0)
			minor = p->nvm_version & 0xFF;
		n = snprintf(fw_version, fw_size, "%u.%x, 0x%08x", major, minor, p->etrack);
	} else {
		n = snprintf(fw_version, fw_size, "%u.%u.%u", major, minor, p->nvm_version & 0xFu);
	}
	if (n < 0)
		return -EINVAL;
	return (size_t)n < fw_size ? 0 : n + 1;
}
