/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Descriptors as the device reads and writes them: 16 bytes, little endian.
 * 82576EB datasheet, chapter 7: advanced receive and transmit descriptors.
 */
#ifndef PPIGB_DESC_H
#define PPIGB_DESC_H

#include <assert.h>
#include <stdint.h>

#include <rte_byteorder.h>

/** Receive: what software writes (read), and what the device writes over it (wb). */
union ppigb_rx_desc {
	struct {
		rte_le64_t addr;
		rte_le64_t hdr_addr; /**< 0: writing it clears DD, which lies in the same place. */
	} read;
	struct {
		rte_le16_t pkt_info; /**< PPIGB_RXI_*. */
		rte_le16_t hdr_info;
		rte_le32_t rss;    /**< With RXCSUM.PCSD set. */
		rte_le32_t status; /**< PPIGB_RXS_*. */
		rte_le16_t len;
		rte_le16_t vlan;
	} wb;
	struct {
		rte_le64_t lo, hi;
	} qw;
};
static_assert(sizeof(union ppigb_rx_desc) == 16, "a descriptor is 16 bytes");

/* pkt_info: RSS type, and packet type by bits. */
#define PPIGB_RXI_RSS_TYPE 0x000Fu
#define PPIGB_RXI_IPV4     0x0010u
#define PPIGB_RXI_IPV4E    0x0020u /**< With options. */
#define PPIGB_RXI_IPV6     0x0040u
#define PPIGB_RXI_IPV6E    0x0080u /**< With extension headers. */
#define PPIGB_RXI_TCP      0x0100u
#define PPIGB_RXI_UDP      0x0200u
#define PPIGB_RXI_SCTP     0x0400u
#define PPIGB_RXI_NFS      0x0800u
#define PPIGB_RXI_ETQF     0x8000u /**< The bits above mean an ethertype filter's number. */

/* status and errors. */
#define PPIGB_RXS_DD    (1u << 0)
#define PPIGB_RXS_EOP   (1u << 1)
#define PPIGB_RXS_VP    (1u << 3) /**< A VLAN tag was stripped into vlan. */
#define PPIGB_RXS_UDPCS (1u << 4)
#define PPIGB_RXS_L4CS  (1u << 5)  /**< The L4 checksum was checked ... */
#define PPIGB_RXS_IPCS  (1u << 6)  /**< ... and the IPv4 header checksum. */
#define PPIGB_RXS_LB    (1u << 18) /**< Looped back: vlan is big endian (I350, I354). */
#define PPIGB_RXS_L4E   (1u << 29)
#define PPIGB_RXS_IPE   (1u << 30)
#define PPIGB_RXS_RXE   (1u << 31)

/** Transmit, data: the device reads it and, with head write-back, writes nothing into it. */
union ppigb_tx_desc {
	struct {
		rte_le64_t addr;
		rte_le32_t cmd;    /**< Length in bits 15:0, PPIGB_TXC_*. */
		rte_le32_t olinfo; /**< PPIGB_TXO_*, PAYLEN. */
	} data;
	struct {
		rte_le32_t lens; /**< IPLEN 8:0, MACLEN 15:9, VLAN 31:16. */
		rte_le32_t launch;
		rte_le32_t type; /**< PPIGB_TXX_*. */
		rte_le32_t mss;  /**< IDX, L4LEN 15:8, MSS 31:16. */
	} ctx;
	struct {
		rte_le64_t lo, hi;
	} qw;
};
static_assert(sizeof(union ppigb_tx_desc) == 16, "a descriptor is 16 bytes");

#define PPIGB_TXC_DTYP_CTX  (2u << 20)
#define PPIGB_TXC_DTYP_DATA (3u << 20)
#define PPIGB_TXC_EOP       (1u << 24)
#define PPIGB_TXC_IFCS      (1u << 25) /**< The device appends the CRC. */
#define PPIGB_TXC_RS        (1u << 27) /**< Report: write the head back. */
#define PPIGB_TXC_DEXT      (1u << 29)
#define PPIGB_TXC_VLE       (1u << 30)
#define PPIGB_TXC_TSE       (1u << 31)

#define PPIGB_TXO_IDX(i)    ((uint32_t)(i) << 4)
#define PPIGB_TXO_IXSM      (1u << 8)
#define PPIGB_TXO_TXSM      (1u << 9)
#define PPIGB_TXO_PAYLEN(n) ((uint32_t)(n) << 14)

#define PPIGB_TXX_IPV4     (1u << 10)
#define PPIGB_TXX_L4T_UDP  (0u << 11)
#define PPIGB_TXX_L4T_TCP  (1u << 11)
#define PPIGB_TXX_L4T_SCTP (2u << 11)

#endif /* PPIGB_DESC_H */
