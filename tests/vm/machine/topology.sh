# QEMU's arguments for the devices of the test host: two NUMA nodes, each with a PCIe root of its own. Sourced.
# The tests know the addresses that follow from it.
# shellcheck shell=bash disable=SC2034,SC2054 # it is for who sources it, and QEMU's words have commas

memory_mb=2048
# Where a card was added, in a slot before those of node 0's plain NVMe and GPU, their buses have higher numbers.
added_card=${added_card:-}

topology() {
  local disks=$1 disk
  for disk in 0 1 2; do truncate -s 64M "$disks/nvme$disk.img"; done
  devices=(
    -m "$memory_mb" -smp 4,sockets=2,cores=2,threads=1
    -object "memory-backend-ram,id=memory0,size=$((memory_mb / 2))M"
    -object "memory-backend-ram,id=memory1,size=$((memory_mb / 2))M"
    -numa node,nodeid=0,cpus=0-1,memdev=memory0 -numa node,nodeid=1,cpus=2-3,memdev=memory1 -numa dist,src=0,dst=1,val=21
    -device pxb-pcie,id=root20,bus_nr=32,bus=pcie.0,numa_node=0
    -device pxb-pcie,id=root80,bus_nr=128,bus=pcie.0,numa_node=1

    # Node 0: an NVMe with SR-IOV, a plain NVMe, a GPU whose audio function is in its IOMMU group, an empty slot.
    -device "pcie-root-port,id=port21,bus=root20,chassis=10,slot=0,addr=0.0,multifunction=$([[ $added_card ]] && echo on || echo off)"
    -device nvme-subsys,id=subsystem0,nqn=subsystem0
    -device "nvme,id=nvme0,serial=SRIOV0,bus=port21,subsys=subsystem0,sriov_max_vfs=4,sriov_vq_flexible=8,\
sriov_vi_flexible=8,max_ioqpairs=10,msix_qsize=17"
    -drive "file=$disks/nvme0.img,if=none,id=disk0,format=raw" -device nvme-ns,drive=disk0,bus=nvme0,nsid=1,shared=on
    -device pcie-root-port,id=port22,bus=root20,chassis=11,slot=1,addr=1.0
    -drive "file=$disks/nvme1.img,if=none,id=disk1,format=raw" -device nvme,serial=PLAIN1,drive=disk1,bus=port22
    -device pcie-root-port,id=port23,bus=root20,chassis=12,slot=2,addr=2.0
    -device bochs-display,bus=port23,addr=0.0,multifunction=on -device ich9-intel-hda,bus=port23,addr=0.1
    -device pcie-root-port,id=slot24,bus=root20,chassis=13,slot=3,addr=3.0

    # Node 1: a NIC with SR-IOV, a NIC with two functions in one group, an NVMe behind a port without ACS, a switch with
    # two devices, an empty slot.
    -device pcie-root-port,id=port81,bus=root80,chassis=20,slot=0,addr=0.0
    -netdev user,id=net0,restrict=on,ipv6=off -device igb,netdev=net0,bus=port81,mac=52:54:00:00:00:10
    -device pcie-root-port,id=port82,bus=root80,chassis=21,slot=1,addr=1.0
    -netdev user,id=net1,restrict=on,ipv6=off
    -device e1000e,netdev=net1,bus=port82,addr=0.0,multifunction=on,mac=52:54:00:00:00:20
    -netdev user,id=net2,restrict=on,ipv6=off -device e1000e,netdev=net2,bus=port82,addr=0.1,mac=52:54:00:00:00:21
    -device pcie-root-port,id=port83,bus=root80,chassis=22,slot=2,addr=2.0,disable-acs=on
    -drive "file=$disks/nvme2.img,if=none,id=disk2,format=raw" -device nvme,serial=PLAIN2,drive=disk2,bus=port83
    -device pcie-root-port,id=port84,bus=root80,chassis=23,slot=3,addr=3.0
    -device x3130-upstream,id=switch,bus=port84
    -device xio3130-downstream,id=down0,bus=switch,chassis=30,slot=0 -device qemu-xhci,bus=down0
    -device xio3130-downstream,id=down1,bus=switch,chassis=31,slot=1
    -netdev user,id=net3,restrict=on,ipv6=off -device e1000e,netdev=net3,bus=down1,mac=52:54:00:00:00:30
    -device pcie-root-port,id=slot88,bus=root80,chassis=24,slot=4,addr=4.0

    # No node: a conventional bridge with two devices, one group.
    -device pcie-pci-bridge,id=bridge,bus=pcie.0
    -device edu,bus=bridge,addr=1.0
    -netdev user,id=net4,restrict=on,ipv6=off -device e1000,netdev=net4,bus=bridge,addr=2.0,mac=52:54:00:00:00:40
  )
  [[ -z $added_card ]] || devices+=(
    -device pcie-root-port,id=added,bus=root20,chassis=40,slot=9,addr=0.1
    -netdev user,id=net9,restrict=on,ipv6=off -device e1000e,netdev=net9,bus=added,mac=52:54:00:00:00:90
  )
}
